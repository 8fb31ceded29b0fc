/** kill -9 between any two steps: what is there afterwards is all of a change or nothing of it. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres } from '../../../test/support/postgres.ts'
import { openPostgres, openSqlite, restoreSqlite, verifyChain } from '../src/index.ts'
import * as sample from './samples.ts'
import { temporaryFolder } from './stores.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
/** Node runs no TypeScript by itself; vite, which is here anyway, loads the child with the aliases of the tests. */
const loader = `
  const { runnerImport } = await import('vite')
  const [child, config, where, point] = process.argv.slice(1)
  const { module } = await runnerImport(child, { configFile: config, logLevel: 'error' })
  await module.crash(where, point)
`

async function crashAt(
  where: string,
  point: string,
): Promise<{ readonly said: string; readonly signal: string | null }> {
  const root = path('../../..')
  const args = ['--input-type=module', '-e', loader, path('crash-child.ts'), path('../../../vitest.config.ts')]
  const child = spawn(process.execPath, [...args, where, point], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', chunk => {
    said += String(chunk)
  })
  const signal = await new Promise<string | null>(resolve => child.on('close', (_code, by) => resolve(by)))
  return { said, signal }
}

function suite(name: string, make: () => Promise<{ readonly where: string; remove(): Promise<void> | void }>): void {
  describe(`killed on ${name}`, () => {
    let place: Awaited<ReturnType<typeof make>>
    beforeEach(async () => {
      place = await make()
    })
    afterEach(() => place.remove())

    const points: readonly (readonly [point: string, kept: boolean])[] = [
      ['begun:resolve', false],
      ['decided:resolve', false],
      ['written:resolve', false],
      ['written:open', false],
      ['committed:resolve', true],
      ['committed:open', true],
    ]
    it.each(points)('G2, G5: at %s, row and event are both there or both not', async (point, kept) => {
      // The first batch opens a request too; only the second has both labels, so its points are told apart by what was said.
      const { said, signal } = await crashAt(place.where, point)
      expect(signal).toBe('SIGKILL')
      const first = point.endsWith(':open')
      expect(said).toBe(first ? '' : 'opened\n')
      const store = await (place.where.startsWith('postgres:')
        ? openPostgres({ url: place.where })
        : openSqlite({ file: place.where }))
      try {
        const row = await store.get('request', sample.requestId(1))
        const events = (await sample.allEvents(store)).map(event => event.type)
        const opened = first ? kept : true
        expect(row?.status).toBe(opened ? (kept && !first ? 'resolved' : 'pending') : undefined)
        expect(events.filter(type => type === 'request.opened').length).toBe(await store.count('request', {}))
        expect(events.includes('request.resolved')).toBe(row?.status === 'resolved')
        expect(await verifyChain(store)).toMatchObject({ ok: true })
        await store.commit(sample.saying('life goes on'))
      } finally {
        await store.close()
      }
    })

    it('is there whole when nobody kills it', async () => {
      expect(await crashAt(place.where, 'never')).toEqual({ said: 'opened\nacknowledged\n', signal: null })
    })
  })
}

it('C7: a second process that opens the same file is refused, and disturbs nothing', async () => {
  const folder = temporaryFolder()
  const file = `${folder.path}/holdpoint.db`
  const store = await openSqlite({ file })
  await store.commit(sample.saying('mine'))
  expect(await crashAt(file, 'never')).toEqual({ said: 'store_locked\n', signal: null })
  await store.commit(sample.saying('still mine'))
  expect(await verifyChain(store)).toEqual({ ok: true, events: 2 })
  await store.close()
  folder.remove()
})

it('a restore that is killed before its last step leaves the archive as it was, and can be made again', async () => {
  const folder = temporaryFolder()
  const file = `${folder.path}/holdpoint.db`
  const store = await openSqlite({ file })
  await store.commit(sample.saying('old'))
  await store.backup(`${file}.backup`)
  await store.commit(sample.saying('new'))
  await store.close()
  expect(await crashAt(file, 'restore:kept')).toMatchObject({ signal: 'SIGKILL' })
  const after = await openSqlite({ file })
  expect(await verifyChain(after)).toEqual({ ok: true, events: 2 })
  await after.close()
  expect(await restoreSqlite({ from: `${file}.backup`, to: file })).toMatchObject({ events: 1 })
  const restored = await openSqlite({ file })
  expect(await verifyChain(restored)).toEqual({ ok: true, events: 1 })
  await restored.close()
  folder.remove()
})

suite('SQLite', async () => {
  const folder = temporaryFolder()
  return { where: `${folder.path}/holdpoint.db`, remove: () => folder.remove() }
})
if (await hasPostgres())
  suite('PostgreSQL', async () => {
    const { url, drop } = await freshDatabase()
    return { where: url, remove: drop }
  })

/** Kills a process with kill -9 at crash points of a commit or a restore. Afterwards, each change must be stored completely or not at all. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformWithOxc } from 'vite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres } from '../../../test/support/postgres.ts'
import { openPostgres, openSqlite, restoreSqlite, verifyChain } from '../src/index.ts'
import * as sample from './samples.ts'
import { temporaryFolder } from './stores.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const childFolder = temporaryFolder()
beforeAll(compileChild)
afterAll(() => childFolder.remove())

/** Node 20 cannot run TypeScript, so the child and its samples are compiled once. The child uses the built store. */
async function compileChild(): Promise<void> {
  for (const name of ['crash-child', 'samples']) {
    const { code } = await transformWithOxc(readFileSync(path(`./${name}.ts`), 'utf8'), `${name}.ts`)
    const withBuiltStore = code.replace('../src/index.ts', new URL('../dist/index.js', import.meta.url).href)
    writeFileSync(join(childFolder.path, `${name}.mjs`), withBuiltStore.replace('./samples.ts', './samples.mjs'))
  }
}

const script = 'const [module, ...words] = process.argv.slice(1); await (await import(module)).crash(...words)'
async function crashAt(
  store: string,
  point: string,
): Promise<{ readonly output: string; readonly signal: string | null }> {
  const args = ['--input-type=module', '-e', script, join(childFolder.path, 'crash-child.mjs'), store, point]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', chunk => {
    output += String(chunk)
  })
  const signal = await new Promise<string | null>(resolve => child.on('close', (_code, by) => resolve(by)))
  return { output, signal }
}

function crashSuite(
  name: string,
  make: () => Promise<{ readonly store: string; remove(): Promise<void> | void }>,
): void {
  describe(`kill -9 during a commit on ${name}`, () => {
    let location: Awaited<ReturnType<typeof make>>
    beforeEach(async () => {
      location = await make()
    })
    afterEach(() => location.remove())

    const points: readonly (readonly [point: string, committed: boolean])[] = [
      ['begun:resolve', false],
      ['decided:resolve', false],
      ['written:resolve', false],
      ['written:open', false],
      ['committed:resolve', true],
      ['committed:open', true],
    ]
    it.each(points)(
      'G2, G5: after kill -9 at %s, row and event are both stored or both missing',
      async (point, committed) => {
        // The first batch already reaches every point that ends in `:open`, so the child dies there before it prints `opened`.
        const { output, signal } = await crashAt(location.store, point)
        expect(signal).toBe('SIGKILL')
        const first = point.endsWith(':open')
        expect(output).toBe(first ? '' : 'opened\n')
        const store = await (location.store.startsWith('postgres:')
          ? openPostgres({ url: location.store })
          : openSqlite({ file: location.store }))
        try {
          const row = await store.get('request', sample.requestId(1))
          const events = (await sample.allEvents(store)).map(event => event.type)
          const opened = first ? committed : true
          expect(row?.status).toBe(opened ? (committed && !first ? 'resolved' : 'pending') : undefined)
          expect(events.filter(type => type === 'request.opened').length).toBe(await store.count('request', {}))
          expect(events.includes('request.resolved')).toBe(row?.status === 'resolved')
          expect(await verifyChain(store)).toMatchObject({ ok: true })
          await store.commit(sample.addMessage('after the crash'))
        } finally {
          await store.close()
        }
      },
    )

    it('all rows and events are stored if the process is not killed', async () => {
      expect(await crashAt(location.store, 'never')).toEqual({ output: 'opened\nacknowledged\n', signal: null })
    })
  })
}

it('C7: a second process that opens the same SQLite file is refused and changes nothing', async () => {
  const folder = temporaryFolder()
  const file = `${folder.path}/holdpoint.db`
  const store = await openSqlite({ file })
  await store.commit(sample.addMessage('mine'))
  expect(await crashAt(file, 'never')).toEqual({ output: 'store_locked\n', signal: null })
  await store.commit(sample.addMessage('still mine'))
  expect(await verifyChain(store)).toEqual({ ok: true, events: 2 })
  await store.close()
  folder.remove()
})

it('a restore that is killed before its last step leaves the store unchanged and can be repeated', async () => {
  const folder = temporaryFolder()
  const file = `${folder.path}/holdpoint.db`
  const store = await openSqlite({ file })
  await store.commit(sample.addMessage('old'))
  await store.backup(`${file}.backup`)
  await store.commit(sample.addMessage('new'))
  await store.close()
  expect(await crashAt(file, 'restore:previousKept')).toMatchObject({ signal: 'SIGKILL' })
  const after = await openSqlite({ file })
  expect(await verifyChain(after)).toEqual({ ok: true, events: 2 })
  await after.close()
  expect(await restoreSqlite({ from: `${file}.backup`, to: file, prepare: async () => null })).toMatchObject({
    events: 1,
  })
  const restored = await openSqlite({ file })
  expect(await verifyChain(restored)).toEqual({ ok: true, events: 1 })
  await restored.close()
  folder.remove()
})

crashSuite('SQLite', async () => {
  const folder = temporaryFolder()
  return { store: `${folder.path}/holdpoint.db`, remove: () => folder.remove() }
})
if (await hasPostgres())
  crashSuite('PostgreSQL', async () => {
    const { url, drop } = await freshDatabase()
    return { store: url, remove: drop }
  })

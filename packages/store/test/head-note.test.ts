/** Tests the head of the log that is noted outside the database: which losses are noticed at the next start, and what writing the note costs. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '@holdpoint/engine'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqlite, type SqliteOptions, type StoreLoss, verifyChain } from '../src/index.ts'
import * as sample from './samples.ts'
import { temporaryFolder } from './stores.ts'

let folder: ReturnType<typeof temporaryFolder>
let file: string
const opened: Store[] = []
const open = async (over: Partial<SqliteOptions> = {}) => {
  const store = await openSqlite({ file, ...over })
  opened.push(store)
  return store
}
beforeEach(() => {
  folder = temporaryFolder()
  file = join(folder.path, 'holdpoint.db')
})
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
  folder.remove()
})

/** The note as it is on disk. */
const noted = () => JSON.parse(readFileSync(`${file}.head`, 'utf8')) as { seq: number; hash: string; at: number } // `HeadNote` writes these fields
async function waitForNote(seq: number): Promise<void> {
  while (noted().seq < seq) await new Promise(resolve => setTimeout(resolve, 20))
}
/** Makes the files look as they do after kill -9: copies them while the store is open, closes it, and puts the copies back. */
async function crashed(store: Store): Promise<void> {
  const names = [file, `${file}-wal`, `${file}.head`]
  for (const name of names) copyFileSync(name, `${name}.copy`)
  await store.close()
  for (const name of names) copyFileSync(`${name}.copy`, name)
}
async function writeEvents(store: Store, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await store.commit(sample.addMessage(`message ${n} ${'x'.repeat(500)}`))
}
const refusal = (message: RegExp) => ({ code: 'store_lost', message: expect.stringMatching(message) })

describe('F16: a SQLite store whose gateway was killed', () => {
  beforeEach(async () => {
    const store = await open()
    await writeEvents(store, 40)
    await waitForNote(40)
    await crashed(store)
  })

  it('a killed gateway’s store opens with all events if its files are complete', async () => {
    expect(await verifyChain(await open())).toEqual({ ok: true, events: 40 })
  })
  it('a store whose write-ahead log was deleted is refused with an error that says what is missing and what to do', async () => {
    rmSync(`${file}-wal`)
    const time = new Date(noted().at).toISOString()
    await expect(open()).rejects.toMatchObject(
      refusal(
        new RegExp(
          `last known event is 40 of ${time}, and the store ends at event 0.*holdpoint restore FILE.*--accept-data-loss`,
        ),
      ),
    )
  })
  it('a store whose write-ahead log is damaged in the middle is refused', async () => {
    const wal = readFileSync(`${file}-wal`)
    wal.fill(0x5a, wal.length / 2, wal.length / 2 + 100)
    writeFileSync(`${file}-wal`, wal)
    await expect(open()).rejects.toMatchObject(refusal(/last known event is 40 .* ends at event \d+\./))
  })
  it('a store whose write-ahead log was truncated is refused', async () => {
    truncateSync(`${file}-wal`, statSync(`${file}-wal`).size / 2)
    await expect(open()).rejects.toMatchObject(refusal(/last known event is 40/))
  })
  it.each(['emptied', 'deleted'])(
    'a store whose file was %s is refused, and no new database is created in its place',
    async how => {
      if (how === 'emptied') truncateSync(file)
      else rmSync(file)
      rmSync(`${file}-wal`)
      await expect(open()).rejects.toMatchObject(refusal(/ends at event 0/))
      expect(existsSync(file) ? statSync(file).size : 0).toBe(0)
    },
  )
  it('a store opens again after its missing write-ahead log was put back', async () => {
    rmSync(`${file}-wal`)
    await expect(open()).rejects.toMatchObject({ code: 'store_lost' })
    copyFileSync(`${file}-wal.copy`, `${file}-wal`)
    copyFileSync(`${file}.copy`, file)
    expect(await verifyChain(await open())).toEqual({ ok: true, events: 40 })
  })
  it('a store opens without its lost events if the caller accepts the loss, and is not refused again', async () => {
    rmSync(`${file}-wal`)
    const losses: StoreLoss[] = []
    const store = await open({
      onLoss: async (opening, loss) => {
        losses.push(loss)
        await opening.commit(sample.addMessage('accepted'))
      },
    })
    expect(losses).toEqual([{ lastSeq: 40, lastAt: expect.any(Number), seq: 0, differs: false }])
    await store.close()
    expect((await (await open()).head()).seq).toBe(1)
  })
  it('a store is still refused at the next start if the process ends while it accepts the loss', async () => {
    rmSync(`${file}-wal`)
    const failing = open({ onLoss: () => Promise.reject(new Error('killed')) })
    await expect(failing).rejects.toThrow('killed')
    await expect(open()).rejects.toMatchObject({ code: 'store_lost' })
  })
})

describe('C9: a SQLite file that was replaced', () => {
  it('an older copy of the file is refused', async () => {
    const store = await open()
    await writeEvents(store, 5)
    await store.backup(`${file}.old`)
    await writeEvents(store, 3)
    await store.close()
    copyFileSync(`${file}.old`, file)
    await expect(open()).rejects.toMatchObject(refusal(/last known event is 8 .* ends at event 5/))
  })
  it('an older copy of the file to which another gateway has added events is refused, even if it is longer', async () => {
    const store = await open()
    await writeEvents(store, 5)
    await store.backup(`${file}.old`)
    await writeEvents(store, 3)
    await store.close()
    copyFileSync(`${file}.old`, file)
    const elsewhere = await open({ headFile: null })
    await writeEvents(elsewhere, 9)
    await elsewhere.close()
    await expect(open()).rejects.toMatchObject(refusal(/another history.*different event at that position/))
  })
  it('a log whose hashes were all computed again is refused', async () => {
    const store = await open()
    await writeEvents(store, 5)
    await store.close()
    rmSync(file)
    const forged = await open({ headFile: null })
    await writeEvents(forged, 6)
    await forged.close()
    await expect(open()).rejects.toMatchObject(refusal(/another history/))
  })
})

describe('the note of the head', () => {
  it('the head is noted at once if the last note is at least a second old, at most once per second under load, and when the store is closed', async () => {
    const store = await open()
    await new Promise(resolve => setTimeout(resolve, 1050))
    const before = store.flushes
    await store.commit(sample.addMessage('first'))
    await waitForNote(1)
    const startedAt = performance.now()
    let commits = 0
    while (performance.now() - startedAt < 1500) {
      await store.commit(sample.addMessage('more'))
      commits++
      // A checkpoint would flush too, but none runs after only a few hundred commits.
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    const seconds = (performance.now() - startedAt) / 1000
    // Each commit is one flush, and each note two.
    expect(store.flushes - before - commits - 1).toBeLessThanOrEqual(2 * (Math.ceil(seconds) + 2))
    const { seq } = await store.head()
    await store.close()
    expect(noted()).toMatchObject({ seq })
  })
  it('the note of the head is readable only by its owner, and is not created if the caller does not want it', async () => {
    const umask = process.umask(0)
    await (await open()).close()
    process.umask(umask)
    expect(statSync(`${file}.head`).mode & 0o777).toBe(0o600)
    file = join(folder.path, 'other.db')
    await (await open({ headFile: null })).close()
    expect(existsSync(`${file}.head`)).toBe(false)
  })
  it('a store with a damaged note is refused, and the error names the file', async () => {
    await (await open()).close()
    writeFileSync(`${file}.head`, '{"seq":')
    await expect(open()).rejects.toMatchObject({
      code: 'store_lost',
      message: expect.stringContaining(`${file}.head is damaged`),
    })
  })
  it('a store whose note cannot be written is refused', async () => {
    await expect(open({ headFile: '/proc/holdpoint.head' })).rejects.toMatchObject({
      code: expect.stringMatching(/^store_/),
      message: expect.stringContaining('/proc/holdpoint.head'),
    })
  })
  it('the noted head is never ahead of the database, whenever the process is killed', () => {
    // A child commits in a loop, and is killed at a random moment, ten times.
    const script = `import { openSqlite } from ${JSON.stringify(join(import.meta.dirname, '../dist/index.js'))}
      const store = await openSqlite({ file: process.argv[1] })
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(process.argv[2]))
      for (let n = 0; ; n++) await store.commit({ label: 'x', reads: [], decide: () => ({ events: [{ session: null, body: { type: 'clock.jumped', ms: n } }], result: 0 }) })`
    for (let round = 0; round < 10; round++)
      try {
        execFileSync(process.execPath, ['--input-type=module', '-e', script, file, String(50 + round * 40)], {
          stdio: 'pipe',
        })
      } catch (error) {
        expect((error as { signal?: string }).signal, String((error as { stderr?: Buffer }).stderr)).toBe('SIGKILL') // execFileSync throws an error with these fields
      }
  })
})

/** Tests faults of the store and of the clock with a real gateway process: what the person is told, and that nothing is lost or allowed. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { httpCall } from '@holdpoint/client'
import { afterEach, describe, expect, it } from 'vitest'
import { closeGateways, GatewayProcess, shortPause, startGateway } from '../../../test/support/gateway.ts'
import { freshDatabase, hasPostgres } from '../../../test/support/postgres.ts'
import { openPostgresProxy } from '../../../test/support/postgres-proxy.ts'
import { runCli } from './support/cli-process.ts'

const mounted: string[] = []
afterEach(async () => {
  const folders = mounted.splice(0)
  if (folders.length === 0) return closeGateways()
  // Unmount before the folder of the gateway is removed.
  for (const gateway of gateways.splice(0)) await gateway.kill()
  for (const folder of folders) execFileSync('umount', [folder])
  await closeGateways()
})
const gateways: GatewayProcess[] = []

const ask = { kind: 'approval' as const, tool: 't', input: {}, title: 'May I?', cwd: '/', editable: false }
/** Calls once, because retrying would hide what the gateway replies. */
const once = (gateway: GatewayProcess) => httpCall({ url: gateway.url, token: gateway.token, attempts: 1 })
async function openRequest(gateway: GatewayProcess, more: { deadlineMs?: number } = {}) {
  const { id } = await gateway.call('startSession', { driver: 'external' })
  return gateway.call('openRequest', { id, key: `k${Math.random()}`, ask, onDeadline: 'deny', ...more })
}
const allow = (gateway: GatewayProcess, { id, digest }: { id: string; digest: string }) =>
  once(gateway)('answerRequest', { id, digest, answer: { kind: 'allow' } } as never) // the ids come from the gateway

/** Starts the gateway and returns what it prints if it does not start. */
async function refusal(gateway: GatewayProcess): Promise<string> {
  gateway.stderr = ''
  await expect(gateway.start()).rejects.toThrow('did not start')
  expect(await gateway.exited).toMatchObject({ code: 1 })
  return gateway.stderr
}
/** Expects one sentence for people, without a stack trace. */
function expectSentence(text: string, pattern: RegExp): void {
  expect(text).toMatch(pattern)
  expect(
    text
      .trim()
      .split('\n')
      .filter(line => line.startsWith('holdpoint: ')),
  ).toHaveLength(1)
  expect(text).not.toMatch(/^\s+at /m)
}

/** Puts the data folder on a file system of this size. Only root can do that. */
function mountSmall(gateway: GatewayProcess, size: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'none', gateway.home.path])
  mounted.push(gateway.home.path)
  gateways.push(gateway)
}
/** Fills the file system of the data folder, and returns a function that frees it again. */
function fillDisk(gateway: GatewayProcess): () => void {
  const filler = join(gateway.home.path, 'filler')
  const file = openSync(filler, 'w')
  for (const size of [65_536, 4096, 512, 1])
    try {
      for (;;) writeSync(file, Buffer.alloc(size))
    } catch {
      // No further block of this size fits on the disk.
    }
  closeSync(file)
  return () => rmSync(filler)
}

if (process.getuid?.() === 0) describe('C6: a full disk (a real small file system)', fullDiskSuite)

function fullDiskSuite(): void {
  it('with a full disk, an answer fails with 503 store_full, the request stays pending, and nothing is lost', async () => {
    const gateway = new GatewayProcess({ runner: 'none' })
    mountSmall(gateway, '3m')
    await gateway.start()
    const request = await openRequest(gateway)
    const freeDisk = fillDisk(gateway)
    const outcomes: string[] = []
    // Small writes still fit into the space that SQLite has already allocated.
    for (let n = 0; n < 200 && !outcomes.includes('store_full'); n++)
      outcomes.push(
        await once(gateway)('startSession', { driver: 'external', title: 'x'.repeat(300) }).then(
          () => 'stored',
          error => error.code,
        ),
      )
    expect(outcomes.at(-1)).toBe('store_full')
    await expect(allow(gateway, request)).rejects.toMatchObject({ code: 'store_full', status: 503 })
    expect((await gateway.call('getRequest', { id: request.id })).status).toBe('pending')
    freeDisk()
    await allow(gateway, request)
    const sessions = (await gateway.call('listSessions', { limit: 500 })).items.length
    expect(sessions).toBe(outcomes.filter(outcome => outcome === 'stored').length + 1)
    await gateway.stop()
    expect(await runCli(['audit', 'verify', '--home', gateway.home.path])).toMatchObject({ code: 0 })
  })

  it('with a full disk, the gateway does not start and prints a message of one sentence', async () => {
    const gateway = new GatewayProcess({ runner: 'none', trusted: false })
    mountSmall(gateway, '3m')
    await gateway.start()
    const request = await openRequest(gateway)
    await gateway.stop()
    const freeDisk = fillDisk(gateway)
    expectSentence(await refusal(gateway), /disk is full/)
    freeDisk()
    await gateway.start()
    expect((await gateway.call('getRequest', { id: request.id })).status).toBe('pending')
  })
}

describe('C6: a gateway whose files are limited in size', () => {
  it('C6: a gateway whose files are limited in size reports that it cannot write to the store, and starts again without the limit', async () => {
    const gateway = new GatewayProcess({ runner: 'none', fileSizeMaxKiB: 600 })
    await gateway.start()
    const request = await openRequest(gateway)
    let code = 'stored'
    for (let n = 0; n < 400 && code === 'stored'; n++)
      code = await once(gateway)('startSession', { driver: 'external', title: 'x'.repeat(300) }).then(
        () => 'stored',
        error => error.code,
      )
    expect(code).toMatch(/^store_(full|unavailable)$/)
    expect((await gateway.call('getRequest', { id: request.id })).status).toBe('pending')
    await gateway.kill()
    gateway.liftFileSizeLimit()
    await gateway.start()
    await allow(gateway, request)
  })
})

describe('C6: the start of a gateway', () => {
  const stopped = async () => {
    const gateway = await startGateway({ runner: 'none' })
    await openRequest(gateway)
    await gateway.stop()
    return gateway
  }
  it('C6: the start of a gateway is refused with a message of one sentence if the database was truncated', async () => {
    const gateway = await stopped()
    truncateSync(gateway.home.databaseFile, 5000)
    expectSentence(await refusal(gateway), /is damaged, or not a database|has lost events/)
  })
  it('C6: the start of a gateway is refused with a message of one sentence if the database was emptied or deleted', async () => {
    const gateway = await stopped()
    truncateSync(gateway.home.databaseFile)
    expectSentence(await refusal(gateway), /has lost events: the last known event is \d+ of .*holdpoint restore FILE/)
    rmSync(gateway.home.databaseFile)
    expectSentence(await refusal(gateway), /--accept-data-loss/)
  })
  it('C6: the start of a gateway is refused with a message of one sentence if the database is damaged in the middle', async () => {
    const gateway = await stopped()
    const bytes = readFileSync(gateway.home.databaseFile)
    bytes.fill(0x5a, 4096, bytes.length)
    writeFileSync(gateway.home.databaseFile, bytes)
    expectSentence(await refusal(gateway), /is damaged, or not a database/)
  })
  it('C6: the start of a gateway is refused with a message of one sentence if the database belongs to another program', async () => {
    const gateway = await stopped()
    rmSync(gateway.home.databaseFile)
    rmSync(`${gateway.home.databaseFile}.head`)
    execFileSync(process.execPath, [
      '-e',
      `const { DatabaseSync } = require('@photostructure/sqlite'); const db = new DatabaseSync(${JSON.stringify(gateway.home.databaseFile)}); db.exec('CREATE TABLE recipe (name TEXT)'); db.close()`,
    ])
    expectSentence(await refusal(gateway), /is not a Holdpoint database/)
  })
  it('C6: the start of a gateway is refused with a message of one sentence if the path of the database is a folder or a device', async () => {
    const gateway = await stopped()
    rmSync(gateway.home.databaseFile)
    mkdirSync(gateway.home.databaseFile)
    expectSentence(await refusal(gateway), /cannot be read or written|has lost events/)
    const device = new GatewayProcess({ runner: 'none', store: 'file:/dev/full' })
    expectSentence(await refusal(device), /holdpoint: .*\/dev\/full/)
  })
  it('C6: the start of a gateway is refused with a message of one sentence if the write-ahead log of a killed gateway was deleted, and an accepted loss is in the audit log', async () => {
    const gateway = await startGateway({ runner: 'none' })
    for (let n = 0; n < 5; n++) await openRequest(gateway)
    const noted = () => (JSON.parse(readFileSync(`${gateway.home.databaseFile}.head`, 'utf8')) as { seq: number }).seq // the gateway writes this file
    while (noted() < 10) await shortPause()
    await gateway.kill()
    rmSync(`${gateway.home.databaseFile}-wal`)
    expectSentence(await refusal(gateway), /has lost events/)
    await gateway.start({}, ['--accept-data-loss'])
    const { items } = await gateway.call('listAudit', { include: 'notices' })
    expect(items).toContainEqual(expect.objectContaining({ event: expect.objectContaining({ type: 'store.lost' }) }))
  })
})

describe('T2: a gateway that was stopped beyond a deadline', () => {
  it('T2: a gateway that was stopped beyond a deadline refuses an answer after it continues, and resolves the request as “nobody answered”', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const request = await openRequest(gateway, { deadlineMs: 1000 })
    process.kill(gateway.pid, 'SIGSTOP')
    await new Promise(resolve => setTimeout(resolve, 1500))
    const late = allow(gateway, request)
    process.kill(gateway.pid, 'SIGCONT')
    await expect(late).rejects.toMatchObject({ code: 'already_resolved' })
    const { resolution } = await gateway.call('getRequest', { id: request.id })
    expect(resolution).toMatchObject({ by: 'deadline', reason: 'nobody answered' })
    const { items } = await gateway.call('listAudit', { include: 'notices' })
    expect(JSON.stringify(items)).not.toContain('clock.jumped')
  })
})

if (await hasPostgres())
  describe('C10: a gateway that cannot reach PostgreSQL', () => {
    it('C10: a gateway that cannot reach PostgreSQL replies with 503 store_unavailable after a few seconds, and decides nothing', async () => {
      const database = await freshDatabase()
      const proxy = await openPostgresProxy(database.url)
      const gateway = await startGateway({ runner: 'none', store: proxy.url })
      const request = await openRequest(gateway)
      for (const how of ['refuses connections', 'does not reply'] as const) {
        await proxy.interrupt(how)
        await expect(allow(gateway, request)).rejects.toMatchObject({ code: 'store_unavailable', status: 503 })
        await proxy.restore()
        while ((await once(gateway)('getRequest', { id: request.id }).catch(() => null)) === null) await shortPause()
        expect((await gateway.call('getRequest', { id: request.id })).status).toBe('pending')
      }
      await allow(gateway, request)
      await gateway.stop()
      proxy.close()
      await database.drop()
    })
  })

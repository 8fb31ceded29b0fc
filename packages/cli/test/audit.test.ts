/** `holdpoint audit verify` and `holdpoint doctor` on the store of a real gateway. */
import { rmSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../test/support/gateway.ts'
import { freshDatabase, hasPostgres } from '../../../test/support/postgres.ts'
import { runCli } from './support/cli-process.ts'

afterEach(closeGateways)

const ask = { kind: 'approval' as const, tool: 't', input: {}, title: 'May I?', cwd: '/', editable: false }
async function denyOne(gateway: GatewayProcess): Promise<void> {
  const { id } = await gateway.call('startSession', { driver: 'external' })
  const request = await gateway.call('openRequest', { id, key: 'k', ask })
  await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
}
const verify = (gateway: GatewayProcess, ...more: string[]) =>
  runCli(['audit', 'verify', '--home', gateway.home.path, ...more])
function tamper(gateway: GatewayProcess, statement: string): void {
  const db = new DatabaseSync(gateway.home.databaseFile)
  db.exec(statement)
  db.close()
}
const changeAnswer = `UPDATE request SET body = replace(body, '"kind":"deny"', '"kind":"allow"')`

describe('holdpoint audit verify', () => {
  it('passes while the gateway runs, after it stopped, and after it was killed', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await denyOne(gateway)
    for (const stop of [async () => {}, () => gateway.kill(), () => gateway.start(), () => gateway.stop()]) {
      await stop()
      expect(await verify(gateway)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^✓ Verified \d+ events and \d+ rows\. Nothing was changed\./),
      })
    }
  })
  it('exits with 1, and names and explains the first problem, if a row was changed', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await denyOne(gateway)
    await gateway.stop()
    tamper(gateway, changeAnswer)
    const { code, out } = await verify(gateway)
    expect(code).toBe(1)
    expect(out).toMatch(/^✗ Request req_\w+ has another answer than the log\.\n {2}A row was changed in the database/)
    const json = await verify(gateway, '--json')
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, problem: expect.stringContaining('another answer') })
  })
  it('finds an event that was replaced as if its session was deleted', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await denyOne(gateway)
    await gateway.stop()
    tamper(gateway, `UPDATE event SET text = '{"type":"purged"}' WHERE type = 'request.resolved'`)
    expect(await verify(gateway)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^✗ Event \d+: its body was removed, but its session was not deleted/),
    })
  })
  it('reports that there is no database yet', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await gateway.stop()
    rmSync(gateway.home.databaseFile)
    expect(await verify(gateway)).toMatchObject({ code: 3, err: expect.stringMatching(/There is no database at/) })
  })
  it('refuses an unknown action', async () => {
    expect((await runCli(['audit', 'erase'])).code).toBe(2)
  })
})

describe('holdpoint doctor', () => {
  it('reports a changed row, even while the gateway runs', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await denyOne(gateway)
    const doctor = async () => {
      const { out } = await runCli(['doctor', '--json', '--home', gateway.home.path])
      const { findings } = JSON.parse(out) as { findings: { name: string; ok: boolean; detail: string }[] } // with --json, doctor prints this object
      return findings.find(({ name }) => name === 'Store')
    }
    expect(await doctor()).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/in use by the gateway, \d+ events verified/),
    })
    await gateway.stop()
    tamper(gateway, changeAnswer)
    const problem = { ok: false, detail: expect.stringMatching(/has another answer than the log/) }
    expect(await doctor()).toMatchObject(problem)
    await gateway.start()
    expect(await doctor()).toMatchObject(problem)
  })
})

if (await hasPostgres())
  it('holdpoint audit verify passes on PostgreSQL while a gateway runs', async () => {
    const { url, drop } = await freshDatabase()
    const gateway = await startGateway({ runner: 'none', store: url })
    await denyOne(gateway)
    expect(await verify(gateway, '--store', url)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Nothing was changed/),
    })
    await gateway.stop()
    await drop()
  })

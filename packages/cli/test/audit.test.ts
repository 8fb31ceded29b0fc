/** `holdpoint audit list`, `holdpoint audit verify` and `holdpoint doctor` on the store of a real gateway. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../test/support/gateway.ts'
import { freshDatabase, hasPostgres } from '../../../test/support/postgres.ts'
import { runCli, runCliAgainst } from './support/cli-process.ts'

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

describe('holdpoint audit list', () => {
  it('holdpoint audit list prints the newest decisions, and filters by answer, person, folder, time and text', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const list = async (...words: string[]) => {
      const { code, out, err } = await runCliAgainst(gateway, ['audit', 'list', ...words])
      if (code !== 0) return err
      return out
        .trimEnd()
        .split('\n')
        .map(line => line.split('\t')[2] ?? line)
    }
    for (const [command, kind, cwd] of [
      ['make one', 'allow', '/srv/a'],
      ['make two', 'deny', '/srv/b'],
      ['make three', 'allow', '/srv/b/c'],
    ] as const) {
      const { id } = await gateway.call('startSession', { driver: 'external', title: command, cwd })
      const asked = { ...ask, tool: 'Bash', input: { command } }
      const request = await gateway.call('openRequest', { id, key: command, ask: asked })
      await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind } })
    }
    const [one, two, three] = ['one', 'two', 'three'].map(name => `Run a command: make ${name}`)
    expect(await list()).toEqual([one, two, three])
    expect(await list('--limit', '2')).toEqual([two, three])
    expect(await list('--answer', 'deny')).toEqual([two])
    expect(await list('--folder', '/srv/b')).toEqual([two, three])
    expect(await list('--search', 'three')).toEqual([three])
    expect(await list('--person', 'owner', '--since', '1h')).toEqual([one, two, three])
    expect(await runCliAgainst(gateway, ['audit', 'list', '--until', '1h'])).toEqual({
      code: 0,
      out: '',
      err: 'No entry of the audit log matches.\n',
    })
    expect(await list('--since', 'soon')).toMatch(/--since must be a date such as .* not "soon"/)
    const csv = (await runCliAgainst(gateway, ['audit', 'list', '--csv', '--answer', 'deny'])).out.split('\r\n')
    expect(csv[0]).toBe(
      '"time","person or rule","answer","what","session","folder","agent","via","delivery","request","digest"',
    )
    expect(csv[1]).toMatch(
      /^"\d{4}-\d\d-\d\dT[\d:.]+Z","owner","deny","make two","make two","\/srv\/b","external","api","waiting","req_\w+","\w{64}"$/,
    )
    const lines = (await runCliAgainst(gateway, ['audit', 'list', '--json'])).out.trim().split('\n')
    expect(lines.map(line => JSON.parse(line).title)).toEqual(['make one', 'make two', 'make three'])
  })
  it('holdpoint audit list writes CSV cells that no spreadsheet program runs as a formula', async () => {
    const gateway = await startGateway({ runner: 'none' })
    // Programs in some countries begin a new cell after a semicolon, and some read the wide forms of the characters.
    const titles = ['=1+1', 'a;=1+1;b', 'a;@b', '\uff1d1+1', 'a;-b', 'a; "=1+1']
    for (const title of titles) {
      const { id } = await gateway.call('startSession', { driver: 'external', title })
      const request = await gateway.call('openRequest', { id, key: 'k', ask })
      await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
    }
    const { out } = await runCliAgainst(gateway, ['audit', 'list', '--csv'])
    for (const cell of ["'=1+1", "a;'=1+1;b", "a;'@b", "'\uff1d1+1", "a;'-b"]) expect(out).toContain(`"${cell}"`)
    expect(out).toContain(`"a;' ""=1+1"`)
  })
})

describe('holdpoint audit verify', () => {
  it('holdpoint audit verify passes while the gateway runs, after it stopped, and after it was killed', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await denyOne(gateway)
    for (const stop of [async () => {}, () => gateway.kill(), () => gateway.start(), () => gateway.stop()]) {
      await stop()
      expect(await verify(gateway)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^✓ Verified \d+ events and \d+ rows\. Nobody has changed them\./),
      })
    }
  })
  it('holdpoint audit verify and backup read the store that --store names, although the gateway has another one open', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await denyOne(gateway)
    const copy = join(gateway.folder, 'copy.db')
    const home = ['--home', gateway.home.path]
    expect((await runCli(['backup', copy, ...home])).code).toBe(0)
    await denyOne(gateway)
    const eventsOf = async (...store: readonly string[]) =>
      Number(/Verified (\d+) events/.exec((await verify(gateway, ...store)).out)?.[1])
    expect(await eventsOf('--store', `file:${gateway.home.databaseFile}`)).toBe(await eventsOf())
    expect(await eventsOf('--store', `file:${copy}`)).toBeLessThan(await eventsOf())
    const missing = `file:${join(gateway.folder, 'missing.db')}`
    expect(await verify(gateway, '--store', missing)).toMatchObject({
      code: 3,
      err: expect.stringContaining('There is no database at'),
    })
    const second = join(gateway.folder, 'second.db')
    expect(await runCli(['backup', second, '--store', `file:${copy}`, ...home])).toMatchObject({
      code: 0,
      out: expect.not.stringContaining('while the gateway was running'),
    })
  })
  it('holdpoint audit verify exits with 1, and names and explains the first problem, if a row was changed', async () => {
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
  it('holdpoint audit verify finds an event that was replaced to look as if its session had been deleted', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await denyOne(gateway)
    await gateway.stop()
    tamper(gateway, `UPDATE event SET text = '{"type":"purged"}' WHERE type = 'request.resolved'`)
    expect(await verify(gateway)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^✗ Event \d+: its body was removed, but its session was not deleted/),
    })
  })
  it('holdpoint audit verify reports that there is no database yet', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await gateway.stop()
    rmSync(gateway.home.databaseFile)
    expect(await verify(gateway)).toMatchObject({ code: 3, err: expect.stringMatching(/There is no database at/) })
  })
  it('holdpoint audit verify refuses an unknown action', async () => {
    expect((await runCli(['audit', 'erase'])).code).toBe(2)
  })
})

describe('holdpoint doctor', () => {
  it('holdpoint doctor reports a changed row, even while the gateway runs', async () => {
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
      out: expect.stringMatching(/Nobody has changed them/),
    })
    await gateway.stop()
    await drop()
  })

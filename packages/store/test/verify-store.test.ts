/** Tests case R11: `verifyStore` finds changes that someone made directly in the database. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Caller, callAs, openGateway, type Store } from '@holdpoint/engine'
import { type Ask, formatId } from '@holdpoint/protocol'
import { DatabaseSync } from '@photostructure/sqlite'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres } from '../../../test/support/postgres.ts'
import { openPostgres, openSqlite, verifyPostgres, verifyStore } from '../src/index.ts'
import { temporaryFolder } from './stores.ts'

const owner: Caller = { role: 'owner', id: 'per_ada', name: 'ada', token: 'tok_ada', via: 'page' }
const runnerId = formatId('run', new Uint8Array(20))
const runnerCaller: Caller = { role: 'runner', id: runnerId, name: 'runner', token: 'tok_runner', via: 'api' }
const driver = { name: 'd', title: 'D', capabilities: ['resumable' as const], modes: [], ready: true }
const approval = (command: string): Ask => ({
  kind: 'approval',
  tool: 'Bash',
  input: { command },
  title: command,
  cwd: '/srv',
  editable: true,
})
const secretAsk: Ask = {
  kind: 'questions',
  questions: [
    { id: 'pin', header: '', question: 'PIN?', options: [], multiSelect: false, allowOther: true, secret: true },
  ],
}

/** Makes a store with everything that is verified: sessions in all states, decisions of all kinds, rules, tokens, and a deleted session. */
async function fill(store: Store): Promise<void> {
  const gateway = await openGateway({ store })
  const [person, runner] = [callAs(gateway, owner), callAs(gateway, runnerCaller)]
  const { incarnation } = await runner('announceRunner', { id: runnerId, name: 'r', drivers: [driver] })
  const attach = async () => {
    const { id } = await person('startSession', { driver: 'd' })
    const { fence } = await runner('attachSession', { id, runner: runnerId, incarnation })
    const ask = (key: string, content: Ask) => runner('openRequest', { id, key, ask: content, fence })
    return { id, fence, ask }
  }
  const [kept, deleted] = [await attach(), await attach()]
  const denied = await kept.ask('denied', approval('rm -rf /'))
  await person('answerRequest', { id: denied.id, digest: denied.digest, answer: { kind: 'deny', reason: 'no' } })
  const taken = await kept.ask('taken', approval('ls'))
  await person('answerRequest', {
    id: taken.id,
    digest: taken.digest,
    answer: { kind: 'allow', input: { command: 'ls -l' } },
  })
  for (const state of ['handed', 'taken'] as const)
    await runner('reportDelivery', { id: taken.id, state, fence: kept.fence })
  const secret = await kept.ask('secret', secretAsk)
  const answer = { kind: 'answers' as const, answers: [{ id: 'pin', chosen: [], other: '4711' }] }
  await person('answerRequest', { id: secret.id, digest: secret.digest, answer })
  await kept.ask('pending', approval('make'))
  await person('addRule', { effect: 'deny', tool: 'Bash', command: 'shutdown' })
  const removed = await person('addRule', { effect: 'deny', tool: 'Write' })
  await person('removeRule', { id: removed.id })
  await gateway.ensureToken('hp_owner-secret-that-is-long-enough', 'owner', 'ada', runnerId)
  const { id: revoked } = await person('addToken', { role: 'agent', name: 'revoked' })
  await person('addToken', { role: 'agent', name: 'ci' })
  await person('removeToken', { id: revoked })
  await gateway.redeemLink((await person('makeLink', {})).code)
  await person('makeLink', {})
  await deleted.ask('gone', approval('gone'))
  await person('endSession', { id: deleted.id })
  await runner('detachSession', { id: deleted.id, fence: deleted.fence })
  await person('deleteSession', { id: deleted.id })
  await person('removeRule', { id: (await person('addRule', { effect: 'ask', tool: 'Read' })).id })
  await gateway.close()
}

describe('R11: verifying a SQLite store', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let file: string
  beforeEach(async () => {
    folder = temporaryFolder()
    file = join(folder.path, 'holdpoint.db')
    const store = await openSqlite({ file })
    await fill(store)
    await store.close()
  })
  afterEach(() => folder.remove())
  const verify = async () => {
    const store = await openSqlite({ file, headFile: null })
    try {
      return await verifyStore(store, { headFile: `${file}.head` })
    } finally {
      await store.close()
    }
  }
  const tamper = (...statements: string[]) => {
    const db = new DatabaseSync(file)
    for (const statement of statements) db.exec(statement)
    db.close()
  }

  it('R11: verifying a SQLite store passes if nobody changed the store', async () => {
    expect(await verify()).toMatchObject({ ok: true, events: expect.any(Number), rows: expect.any(Number) })
  })

  const changes: [string, string, RegExp][] = [
    [
      'the body of an event was changed',
      `UPDATE event SET text = replace(text, 'rm -rf', 'rm -rv') WHERE type = 'request.opened'`,
      /^Event \d+: its body was changed/,
    ],
    ['an event was removed', 'DELETE FROM event WHERE seq = 5', /^Event 5: an event is missing/],
    [
      'an event was replaced as if its session was deleted',
      `UPDATE event SET text = '{"type":"purged"}' WHERE seq = (SELECT min(seq) FROM event WHERE type = 'request.resolved' AND session = (SELECT id FROM session))`,
      /^Event \d+: its body was removed, but its session was not deleted/,
    ],
    [
      'a rule’s event was replaced as if its session was deleted',
      `UPDATE event SET text = '{"type":"purged"}' WHERE type = 'rule.added'`,
      /^Event \d+: its body was removed/,
    ],
    [
      'the last events were removed, and the head adapted',
      `DELETE FROM event WHERE seq = (SELECT max(seq) FROM event); UPDATE head SET seq = seq - 1, hash = (SELECT hash FROM event ORDER BY seq DESC LIMIT 1)`,
      /^The log ends at event \d+, but the gateway noted event \d+/,
    ],
    [
      'a deny was changed to an allow in the row',
      `UPDATE request SET body = replace(body, '"answer":{"kind":"deny","reason":"no"}', '"answer":{"kind":"allow"}')`,
      /^Request req_\w+ has another answer than the log/,
    ],
    [
      'an edited input was changed in the row',
      `UPDATE request SET body = replace(body, 'ls -l', 'rm -l')`,
      /has another answer than the log/,
    ],
    [
      'the ask of a row was changed',
      `UPDATE request SET fixed = replace(fixed, 'make', 'rm -r')`,
      /does not match its digest/,
    ],
    [
      'the title of an ask was changed in the row',
      `UPDATE request SET fixed = replace(fixed, '"title":"make"', '"title":"test"')`,
      /is not what the agent asked/,
    ],
    [
      'a taken answer was set back to waiting',
      `UPDATE request SET body = replace(body, '"state":"taken"', '"state":"waiting"')`,
      /has another delivery than the log/,
    ],
    [
      'a row of a request was removed',
      `DELETE FROM request WHERE rowid = (SELECT min(rowid) FROM request)`,
      /^req_\w+ is in the log, but has no row/,
    ],
    [
      'a request was added',
      `INSERT INTO request SELECT 'req_00000000000000000000', 99999, session, status, open, due_at, version, fixed, body FROM request LIMIT 1`,
      /^Request req_0+ is not in the log/,
    ],
    [
      'the fence of a session was changed',
      `UPDATE session SET body = replace(body, '"fence":1', '"fence":7')`,
      /^Session ses_\w+ has another fence than the log/,
    ],
    [
      'a session was given to another agent',
      `UPDATE session SET body = replace(body, '"agent":null', '"agent":"tok_mallory"')`,
      /belongs to another agent or person/,
    ],
    ['a deny rule was removed', 'DELETE FROM rule', /^rul_\w+ is in the log, but has no row/],
    [
      'a deny rule was changed to an allow',
      `UPDATE rule SET body = replace(body, '"deny"', '"allow"')`,
      /^Rule rul_\w+ is not the rule that was added/,
    ],
    [
      'the role of a token was changed',
      `UPDATE token SET body = replace(body, '"role":"agent"', '"role":"owner"')`,
      /^Token tok_\w+ is not the token that was added/,
    ],
    [
      'a revoked token was made valid again',
      `UPDATE token SET body = replace(replace(body, '"revokedAt":', '"revokedAt":null,"was":'), '"expiresAt":1', '"expiresAt":9')`,
      /^Token tok_\w+ is not in the log, or was revoked/,
    ],
    [
      'the secret of a token was replaced',
      `UPDATE token SET id = 'abc' WHERE body LIKE '%"ci"%'`,
      /^Token tok_\w+ is not the token that was added/,
    ],
    [
      'a link was changed to a token',
      `UPDATE token SET body = replace(body, '"kind":"link"', '"kind":"bearer"')`,
      /^Token tok_\w+ is not the token that was added/,
    ],
  ]
  it.each(changes)('R11: verifying a SQLite store fails if %s', async (_name, statement, problem) => {
    tamper(...statement.split('; '))
    const report = await verify()
    expect(report).toMatchObject({ ok: false, problem: expect.stringMatching(problem), meaning: expect.any(String) })
  })

  it('R11: verifying a SQLite store fails if its whole log was replaced with another valid log', async () => {
    rmSync(file)
    const forged = await openSqlite({ file, headFile: null })
    for (let n = 0; n < 3; n++) await fill(forged)
    await forged.close()
    expect(await verify()).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/is not the event that the gateway noted/),
    })
  })

  it('R11: verifying a SQLite store reports progress for a long log', async () => {
    const store = await openSqlite({ file })
    for (let batch = 0; batch < 42; batch++)
      await Promise.all(
        Array.from({ length: 500 }, () =>
          store.commit({
            label: 'x',
            reads: [],
            decide: () => ({ events: [{ session: null, body: { type: 'clock.jumped', ms: 1 } }], result: 0 }),
          }),
        ),
      )
    const progress: number[] = []
    expect(await verifyStore(store, { onProgress: checked => progress.push(checked) })).toMatchObject({ ok: true })
    expect(progress).toEqual([20_000])
    await store.close()
  })
})

if (await hasPostgres())
  describe('R11: verifying a PostgreSQL store', () => {
    it('R11: verifying a PostgreSQL store passes while a gateway uses the database, and fails after a row was changed', async () => {
      const { url, drop } = await freshDatabase()
      const admin = postgres(url, { max: 1, onnotice: () => {} })
      await expect(verifyPostgres({ url })).rejects.toMatchObject({ code: 'not_found' })
      const store = await openPostgres({ url })
      await fill(store)
      const filling = fill(store)
      expect(await verifyPostgres({ url })).toMatchObject({ ok: true })
      await filling
      expect(await verifyPostgres({ url })).toMatchObject({ ok: true })
      await admin`UPDATE holdpoint.request SET body = replace(body, '"answer":{"kind":"deny","reason":"no"}', '"answer":{"kind":"allow"}')`
      expect(await verifyPostgres({ url })).toMatchObject({
        ok: false,
        problem: expect.stringMatching(/another answer/),
      })
      await store.close()
      await admin.end()
      await drop()
    })
  })

/** Tests secret answers on real files and a real PostgreSQL (L1): no file or table ever contains the secret, and nobody can decrypt it after the agent took it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Caller, callAs, openGateway, type Store } from '@holdpoint/engine'
import { type Answer, type Ask, formatId } from '@holdpoint/protocol'
import { openPostgres, openSqlite } from '@holdpoint/store'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeGateways, startGateway } from './support/gateway.ts'
import { freshDatabase, hasPostgres } from './support/postgres.ts'

const canary = 'canary-Zx81-tulip'
const ask: Ask = {
  kind: 'form',
  title: 'Sign in',
  message: '',
  schema: { type: 'object', properties: { name: { type: 'string' }, pass: { type: 'string', format: 'password' } } },
}
const answer: Answer = { kind: 'submit', values: { name: 'ada', pass: canary } }
const person: Caller = { role: 'owner', id: 'per_ada', name: 'ada', token: 'tok_ada', via: 'page' }
const runnerId = formatId('run', new Uint8Array(20))
const runner: Caller = { role: 'runner', id: runnerId, name: 'runner', token: 'tok_runner', via: 'api' }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-secrets-'))
})
afterEach(async () => {
  await closeGateways()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns the files below a folder whose bytes contain the text. */
function filesWith(text: string, below: string): string[] {
  return readdirSync(below, { recursive: true, encoding: 'utf8' })
    .filter(name => statSync(join(below, name)).isFile())
    .filter(name => readFileSync(join(below, name)).includes(text))
}

async function attach(store: Store) {
  const gateway = await openGateway({ store })
  const [ada, agent] = [callAs(gateway, person), callAs(gateway, runner)]
  const driver = { name: 'd', title: 'D', capabilities: ['resumable' as const], modes: [], ready: true }
  const { incarnation } = await agent('announceRunner', { id: runnerId, name: 'r', drivers: [driver] })
  const session = await ada('startSession', { driver: 'd' })
  const { fence } = await agent('attachSession', { id: session.id, runner: runnerId, incarnation })
  const request = await agent('openRequest', { id: session.id, key: 'k', ask, fence })
  return { gateway, ada, agent, fence, request }
}

describe('L1: a secret answer', () => {
  it('a secret answer is in no file of a SQLite store and its backups, before and after the agent took it', async () => {
    const store = await openSqlite({ file: join(folder, 'holdpoint.db') })
    const { gateway, ada, agent, fence, request } = await attach(store)
    const { id, digest } = request
    await ada('answerRequest', { id, digest, answer }, { idempotencyKey: 'once' })
    await store.backup(join(folder, 'waiting.db'))
    expect(filesWith(canary, folder), 'while the answer waits').toEqual([])
    const keyFiles = readdirSync(join(folder, 'holdpoint.db.keys'))
    expect(keyFiles.map(name => statSync(join(folder, 'holdpoint.db.keys', name)).mode & 0o777)).toEqual([0o600])
    const key = readFileSync(join(folder, 'holdpoint.db.keys', String(keyFiles[0])), 'utf8')
    expect(filesWith(key, folder), 'the key is only in its own file').toEqual([
      join('holdpoint.db.keys', String(keyFiles[0])),
    ])

    const handed = await agent('reportDelivery', { id, state: 'handed', fence }, { idempotencyKey: 'handed' })
    expect(handed.resolution?.answer).toEqual(answer)
    await agent('reportDelivery', { id, state: 'taken', fence })
    await store.backup(join(folder, 'taken.db'))
    expect(filesWith(canary, folder), 'after the agent took it').toEqual([])
    expect(filesWith(key, folder), 'the key is gone').toEqual([])
    await gateway.close()
    await store.close()
    expect(filesWith(canary, folder)).toEqual([])
  })

  it('a secret answer still reaches the agent after the gateway was restarted', async () => {
    const file = join(folder, 'holdpoint.db')
    const first = await openSqlite({ file })
    const opened = await attach(first)
    const { id, digest } = opened.request
    await opened.ada('answerRequest', { id, digest, answer })
    await opened.gateway.close()
    await first.close()
    const store = await openSqlite({ file })
    const gateway = await openGateway({ store })
    expect((await callAs(gateway, runner)('getRequest', { id })).resolution?.answer).toEqual(answer)
    await gateway.close()
    await store.close()
  })

  it('a secret answer is not in the logs and files of a gateway process', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const { secret } = await gateway.call('addToken', { role: 'agent', name: 'robot' })
    const agent = gateway.callAs(secret)
    const session = await agent('startSession', { driver: 'external' })
    const { id, digest } = await agent('openRequest', { id: session.id, key: 'k', ask })
    await gateway.call('answerRequest', { id, digest, answer })
    expect((await agent('getRequest', { id })).resolution?.answer).toEqual(answer)
    await agent('reportDelivery', { id, state: 'handed' })
    await agent('reportDelivery', { id, state: 'taken' })
    expect(filesWith(canary, gateway.folder)).toEqual([])
    expect(gateway.stderr).not.toContain(canary)
    await gateway.stop()
    expect(filesWith(canary, gateway.folder)).toEqual([])
  })
})

if (await hasPostgres())
  it('L1: a secret answer on PostgreSQL reaches an agent on another gateway, is in no table, and is still readable after the database has emptied its key table', async () => {
    const { url, drop } = await freshDatabase()
    const admin = postgres(url, { max: 1, onnotice: () => {} })
    const [one, two] = [
      await openPostgres({ url, keyFolder: join(folder, 'one') }),
      await openPostgres({ url, keyFolder: join(folder, 'two') }),
    ]
    const dump = async () => {
      const tables = await admin`SELECT table_name FROM information_schema.tables WHERE table_schema = 'holdpoint'`
      const rows = tables
        .filter(({ table_name }) => table_name !== 'secret_key')
        .map(({ table_name }) => admin.unsafe(`SELECT * FROM holdpoint.${table_name}`))
      return JSON.stringify(await Promise.all(rows))
    }
    const { gateway, ada, agent, fence, request } = await attach(one)
    const other = await openGateway({ store: two })
    const { id, digest } = request
    await ada('answerRequest', { id, digest, answer }, { idempotencyKey: 'once' })
    expect(await dump()).not.toContain(canary)
    expect(filesWith(canary, folder)).toEqual([])
    const onOther = callAs(other, runner)
    expect((await onOther('getRequest', { id })).resolution?.answer).toEqual(answer)
    // PostgreSQL does this to an unlogged table after a crash.
    await admin`TRUNCATE holdpoint.secret_key`
    expect((await agent('getRequest', { id })).resolution?.answer, 'the gateway that took the answer').toEqual(answer)
    expect(JSON.stringify(await onOther('getRequest', { id }))).not.toContain(canary)
    await one.keys.share(String((await one.get('request', id))?.sealed?.key))
    expect((await onOther('getRequest', { id })).resolution?.answer).toEqual(answer)

    await onOther('reportDelivery', { id, state: 'handed', fence })
    await onOther('reportDelivery', { id, state: 'taken', fence })
    expect(await admin`SELECT * FROM holdpoint.secret_key`).toHaveLength(0)
    expect(await dump()).not.toContain(canary)
    await gateway.close()
    await other.close()
    await Promise.all([one.close(), two.close()])
    await admin.end()
    await drop()
  })

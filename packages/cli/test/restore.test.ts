/** Tests the effects of `holdpoint restore` and `holdpoint up --accept-data-loss` on credentials, allows, fences and the audit log, and their reports. */
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Caller, callAs, type Gateway, openGateway, type Store } from '@holdpoint/engine'
import { formatId, type Request } from '@holdpoint/protocol'
import { verifyChain } from '@holdpoint/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../store/test/stores.ts'
import { type DataFolder, openDataFolder } from '../src/config/data-folder.ts'
import { restore } from '../src/gateway/backup.ts'
import { openStore, parseStoreLocation } from '../src/gateway/open-store.ts'

const runnerId = formatId('run', new Uint8Array(20))
const driver = { name: 'd', title: 'D', capabilities: ['resumable' as const], modes: [], ready: true }
const runnerCaller: Caller = { role: 'runner', id: runnerId, name: 'runner', token: 'tok_runner', via: 'api' }

let folder: ReturnType<typeof temporaryFolder>
let home: DataFolder
let backupFile: string
let store: Store
let gateway: Gateway
let owner: ReturnType<typeof callAs>
const runner = () => callAs(gateway, runnerCaller)

async function open(acceptDataLoss = false): Promise<void> {
  store = await openStore(parseStoreLocation(undefined, home), home, { acceptDataLoss })
  gateway = await openGateway({ store })
  owner = callAs(gateway, await gateway.ensureToken(home.ownerToken(), 'owner', 'owner', home.runnerId()))
}
async function close(): Promise<void> {
  await gateway.close()
  await store.close()
}
beforeEach(async () => {
  folder = temporaryFolder()
  home = openDataFolder(join(folder.path, 'home'))
  backupFile = join(folder.path, 'backup.db')
  await open()
})
afterEach(async () => {
  await close()
  folder.remove()
})

async function attach() {
  const { incarnation } = await runner()('announceRunner', { id: runnerId, name: 'r', drivers: [driver] })
  const session = await owner('startSession', { driver: 'd' })
  const { fence } = await runner()('attachSession', { id: session.id, runner: runnerId, incarnation })
  const ask = (key: string) =>
    runner()('openRequest', {
      id: session.id,
      key,
      fence,
      ask: { kind: 'approval', tool: 'Bash', input: { command: key }, title: key, cwd: '/', editable: false },
    })
  return { session, fence, ask }
}
const allow = ({ id, digest }: Request) => owner('answerRequest', { id, digest, answer: { kind: 'allow' } })
const deny = ({ id, digest }: Request) => owner('answerRequest', { id, digest, answer: { kind: 'deny' } })
const authenticate = (secret: string) => gateway.authenticate({ kind: 'bearer', secret }, 'api')
async function notices() {
  const { items } = await owner('listAudit', { include: 'notices' })
  return items.flatMap(entry => (entry.kind === 'notice' ? entry.event : []))
}

describe('F11b: restoring a backup', () => {
  it('F11b: restoring a backup never hands an allow again if it was handed after the backup, with any fence', async () => {
    const { session, fence, ask } = await attach()
    const request = await ask('rm')
    await allow(request)
    await store.backup(backupFile)
    await runner()('reportDelivery', { id: request.id, state: 'handed', fence })
    await runner()('reportDelivery', { id: request.id, state: 'taken', fence })
    await close()
    expect(await restore({}, home, backupFile)).toMatch(
      /1 allow in the backup had not been delivered yet\. The agent may have used it since, so it is now “unknown” and will not be handed again\./,
    )
    await open()
    expect((await owner('getRequest', { id: request.id })).delivery).toMatchObject({ state: 'unknown' })
    const hand = (number: number) => runner()('reportDelivery', { id: request.id, state: 'handed', fence: number })
    await expect(hand(fence)).rejects.toMatchObject({ code: 'fenced' })
    const { incarnation } = await runner()('announceRunner', { id: runnerId, name: 'r', drivers: [driver] })
    const attached = await runner()('attachSession', { id: session.id, runner: runnerId, incarnation })
    expect(attached.fence).toBeGreaterThan(fence + 1000)
    await expect(hand(attached.fence)).rejects.toMatchObject({ code: 'already_resolved' })
  })

  it('F11b: restoring a backup keeps a waiting deny deliverable, because denying twice does no harm', async () => {
    const { session, ask } = await attach()
    const request = await ask('rm')
    await deny(request)
    await store.backup(backupFile)
    await close()
    await restore({}, home, backupFile)
    await open()
    const { incarnation } = await runner()('announceRunner', { id: runnerId, name: 'r', drivers: [driver] })
    const { fence } = await runner()('attachSession', { id: session.id, runner: runnerId, incarnation })
    const handed = await runner()('reportDelivery', { id: request.id, state: 'handed', fence })
    expect(handed.delivery.state).toBe('handed')
  })

  it('F11b: restoring a backup revokes all credentials but the owner’s', async () => {
    const [revoked, kept] = await Promise.all(
      ['revoked', 'kept'].map(name => owner('addToken', { role: 'person', name })),
    )
    const { code } = await owner('makeLink', {})
    const { cookie, pageSecret } = await gateway.redeemLink(code)
    await store.backup(backupFile)
    await owner('removeToken', { id: (revoked as { id: string }).id }) // `Promise.all` returns as many results as there are names
    await close()
    const report = await restore({}, home, backupFile)
    expect(report).toMatch(/Revoked 3 credentials; only yours is still valid/)
    expect(report).toMatch(/1 revocation of credentials/)
    await open()
    for (const token of [revoked, kept]) expect(await authenticate(token?.secret ?? '')).toBeNull()
    expect(await gateway.authenticate({ kind: 'cookie', secret: cookie, pageSecret }, 'page')).toBeNull()
    expect(await authenticate(home.ownerToken())).toMatchObject({ name: 'owner' })
  })

  it('F11b: restoring a backup says what was undone, names rules that were lost or restored, and records the restore in the audit log', async () => {
    const { ask } = await attach()
    const old = await owner('addRule', { effect: 'allow', tool: 'Read', path: '/srv/x', scope: { cwd: '/srv' } })
    const pending = await ask('pending')
    await store.backup(backupFile)
    const { seq } = await store.head()
    await owner('addRule', { effect: 'deny', tool: 'Bash', command: 'rm -rf /' })
    await owner('removeRule', { id: old.id })
    await allow(pending)
    await deny(await ask('later'))
    await close()
    const report = await restore({}, home, backupFile)
    expect(report).toMatch(/Undone since the backup: \d+ events, 2 answers, 0 revocations of credentials, 1 rule\./)
    expect(report).toMatch(
      /1 deny rule is gone: Add them again if you still need them\.\n {2}deny Bash rm -rf \/ \(rul_\w+, added by owner\)/,
    )
    expect(report).toMatch(/1 removed rule applies again: .*\n {2}allow Read \/srv\/x in \/srv/)
    expect(report).toMatch(/1 request that had been resolved is pending again/)
    expect(report).toMatch(/previous database is kept as/)
    await open()
    expect(await notices()).toContainEqual(
      expect.objectContaining({ type: 'store.restored', seq, lostEvents: expect.any(Number), tokens: 0, unknown: 0 }),
    )
    expect(await verifyChain(store)).toMatchObject({ ok: true })
  })

  it('F11b: restoring a backup says if nothing has happened since the backup, and if the previous database cannot be read', async () => {
    await store.backup(backupFile)
    await close()
    expect(await restore({}, home, backupFile)).toMatch(/Nothing had happened since the backup/)
    writeFileSync(home.databaseFile, 'rubbish'.repeat(1000))
    expect(await restore({}, home, backupFile)).toMatch(/cannot be compared with the backup/)
    await open()
  })
})

describe('F16: a gateway whose store has lost events', () => {
  it('F16: a gateway whose store has lost events starts only with --accept-data-loss, which revokes credentials, marks allows as unknown, and records the loss', async () => {
    const { ask } = await attach()
    const request = await ask('rm')
    await allow(request)
    const { secret } = await owner('addToken', { role: 'agent', name: 'ci' })
    await store.backup(backupFile)
    const { seq } = await store.head()
    await deny(await ask('later'))
    const last = await store.head()
    await close()
    copyFileSync(backupFile, home.databaseFile)
    await expect(open()).rejects.toMatchObject({ code: 'store_lost' })
    await open(true)
    expect(await authenticate(secret)).toBeNull()
    expect((await owner('getRequest', { id: request.id })).delivery.state).toBe('unknown')
    expect(await notices()).toContainEqual(
      expect.objectContaining({ type: 'store.lost', lastSeq: last.seq, lastAt: last.at, seq, tokens: 1, unknown: 1 }),
    )
    await close()
    await open()
  })

  it('F16: a gateway whose store has lost events can be restored from a backup even if its database is missing', async () => {
    await owner('addRule', { effect: 'deny', tool: 'Bash' })
    await store.backup(backupFile)
    await owner('addRule', { effect: 'deny', tool: 'Write' })
    await close()
    rmSync(home.databaseFile)
    await expect(open()).rejects.toMatchObject({ code: 'store_lost' })
    expect(await restore({}, home, backupFile)).toMatch(/^Restored .* with \d+ events\./)
    await open()
    expect(await store.find('rule', {})).toHaveLength(1)
    expect(await notices()).toContainEqual(expect.objectContaining({ type: 'store.restored', lostEvents: 1 }))
  })
})

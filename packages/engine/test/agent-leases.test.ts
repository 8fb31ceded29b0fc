/** The leases of external agents: a session whose agent stops calling is disconnected, and connected again with the agent's next call. */
import type { Request, Session } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { defaultSettings } from '../src/index.ts'
import {
  ada,
  approval,
  expectFault,
  type GatewayFixture,
  openFixture,
  robot,
  runPendingWork,
} from './gateway-fixture.ts'

const { agentTtlMs, sweepMs } = defaultSettings
let fixture: GatewayFixture
let id: Session['id']
beforeEach(async () => {
  fixture = await openFixture()
  id = (await fixture.externalAgent('startSession', { driver: 'external' })).id
})
const stateOf = async (session = id) => (await fixture.person('getSession', { id: session })).state
const ask = (key = 'k') => fixture.externalAgent('openRequest', { id, key, ask: approval() })
/** Lets the lease expire and the sweep run. */
const silence = () => fixture.clock.advance(agentTtlMs + sweepMs)

describe('a session whose agent stops calling', () => {
  it('a session whose agent stops calling is disconnected when the lease of the agent expires, and people are told', async () => {
    const watcher = await fixture.subscribe()
    await ask()
    expect(await stateOf()).toBe('working')
    await fixture.clock.advance(agentTtlMs - sweepMs)
    expect(await stateOf()).toBe('working')
    await fixture.clock.advance(2 * sweepMs)
    expect(await stateOf()).toBe('disconnected')
    expect(watcher.events.at(-1)).toMatchObject({ type: 'session.changed', value: { id, state: 'disconnected' } })
  })
  it('a session whose agent stops calling keeps its pending requests; they show that the agent is disconnected, and people can still answer them', async () => {
    const request = await ask()
    expect(request).not.toHaveProperty('disconnectedAt')
    await silence()
    const { stateChangedAt } = await fixture.person('getSession', { id })
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ disconnectedAt: stateChangedAt })
    expect((await fixture.person('listRequests', { status: 'pending' })).items).toMatchObject([
      { id: request.id, disconnectedAt: stateChangedAt },
    ])
    await fixture.allow(request)
    expect(await fixture.person('getRequest', { id: request.id })).not.toHaveProperty('disconnectedAt')
    expect(await fixture.externalAgent('handOverRequest', { id: request.id })).toMatchObject({ outcome: 'allow' })
    expect(await stateOf()).toBe('working')
  })
  it('G5: if the agent of a session stops calling, an answer that was handed but not taken becomes unknown, and a late report that the answer was taken is accepted', async () => {
    const request = await ask()
    await fixture.allow(request)
    await fixture.externalAgent('handOverRequest', { id: request.id }, { idempotencyKey: 'h' })
    await silence()
    expect((await fixture.person('getRequest', { id: request.id })).delivery.state).toBe('unknown')
    await expectFault(
      fixture.externalAgent('handOverRequest', { id: request.id }, { idempotencyKey: 'h' }),
      'already_resolved',
      /unknown/,
    )
    const report = { id: request.id, state: 'taken' } as const
    expect(await fixture.externalAgent('reportDelivery', report)).toMatchObject({ delivery: { state: 'taken' } })
  })
  it('a session whose agent stops calling can still get messages, be interrupted and be ended', async () => {
    await ask()
    await silence()
    await fixture.person('sendMessage', { id, text: 'Are you there?' })
    await fixture.person('interruptSession', { id })
    expect((await fixture.person('getSession', { id })).pending).toBe(0)
    expect((await fixture.externalAgent('listCommands', { id })).items).toMatchObject([
      { body: { kind: 'message' } },
      { body: { kind: 'interrupt' } },
    ])
    await silence()
    expect(await fixture.person('endSession', { id })).toMatchObject({ state: 'ended' })
  })
  it('a session whose agent stops calling is not started by a runner', async () => {
    await ask()
    await silence()
    await fixture.person('sendMessage', { id, text: 'Are you there?' })
    expect((await fixture.store.get('session', id))?.needsRunner).toBe(false)
  })
})

describe('a disconnected session', () => {
  const calls: readonly (readonly [string, (request: Request) => Promise<unknown>, Session['state']])[] = [
    ['renews its lease', () => fixture.externalAgent('renewSession', { id }), 'working'],
    ['asks', () => ask('another'), 'working'],
    [
      'appends an event',
      () => fixture.externalAgent('appendEvents', { id, items: [{ type: 'message.added', block: 'b', text: 'Hi' }] }),
      'working',
    ],
    ['withdraws a request', request => fixture.externalAgent('withdrawRequest', { id: request.id }), 'working'],
    ['asks for its answer', request => fixture.externalAgent('handOverRequest', { id: request.id }), 'working'],
    ['reads its request', request => fixture.externalAgent('getRequest', { id: request.id }), 'working'],
    ['lists its commands', () => fixture.externalAgent('listCommands', { id }), 'working'],
    ['checks a tool', () => fixture.externalAgent('checkTool', { id, tool: 'T', input: {} }), 'working'],
    ['attaches', () => fixture.externalAgent('attachSession', { id }), 'working'],
    ['listens to its events', () => fixture.subscribe({ session: id }, robot), 'working'],
  ]
  it.each(calls)('a disconnected session is connected again when its agent %s', async (_, call, state) => {
    const request = await ask()
    await silence()
    expect(await stateOf()).toBe('disconnected')
    await call(request)
    await runPendingWork()
    expect(await stateOf()).toBe(state)
  })
  it('a disconnected session is idle again if the agent was idle', async () => {
    await silence()
    expect(await stateOf()).toBe('disconnected')
    await fixture.externalAgent('renewSession', { id })
    expect(await stateOf()).toBe('idle')
  })
  it('a disconnected session stays disconnected if a person or another agent reads the session', async () => {
    const request = await ask()
    await silence()
    await fixture.person('getRequest', { id: request.id })
    await fixture.person('listEvents', { id })
    await fixture.subscribe({ session: id }, ada)
    await expectFault(fixture.otherAgent('renewSession', { id }), 'not_found')
    await runPendingWork()
    expect(await stateOf()).toBe('disconnected')
  })
})

describe('an agent that renews its lease', () => {
  it('an agent that renews its lease stays connected', async () => {
    for (let i = 0; i < 5; i++) {
      await fixture.clock.advance(agentTtlMs / 2)
      expect(await fixture.externalAgent('renewSession', { id })).toEqual({ ttlMs: agentTtlMs })
    }
    expect(await stateOf()).toBe('idle')
  })
  it('an agent that renews its lease writes nothing as long as most of the lease is left', async () => {
    const before = await fixture.store.get('session', id)
    await fixture.externalAgent('renewSession', { id })
    expect(await fixture.store.get('session', id)).toEqual(before)
  })
  it('renewing the lease of an agent is refused after the session has ended and with an old fence', async () => {
    const { fence } = await fixture.externalAgent('attachSession', { id })
    await fixture.externalAgent('attachSession', { id })
    await expectFault(fixture.externalAgent('renewSession', { id, fence }), 'fenced')
    await fixture.person('endSession', { id })
    await expectFault(fixture.externalAgent('renewSession', { id }), 'session_ended')
  })
})

describe('an agent that only waits', () => {
  const waits: readonly (readonly [string, (request: Request, signal: AbortSignal) => Promise<unknown>])[] = [
    [
      'for its answer',
      ({ id: request }, signal) => fixture.externalAgent('handOverRequest', { id: request, wait: 60_000 }, { signal }),
    ],
    [
      'for its request to be resolved',
      ({ id: request }, signal) => fixture.externalAgent('getRequest', { id: request, wait: 60_000 }, { signal }),
    ],
    ['for commands', (_, signal) => fixture.externalAgent('listCommands', { id, wait: 60_000 }, { signal })],
  ]
  it.each(waits)(
    'an agent that only waits is connected while it waits %s, and disconnected some time after it stops waiting',
    async (_, wait) => {
      const request = await ask()
      const leaving = new AbortController()
      const waiting = wait(request, leaving.signal)
      await fixture.clock.advance(50_000)
      expect(await stateOf()).toBe('working')
      leaving.abort()
      await expectFault(waiting, 'draining')
      await silence()
      expect(await stateOf()).toBe('disconnected')
    },
  )
  it('an agent that only waits does not renew the lease of another process of the agent that attached later', async () => {
    const request = await ask()
    const waiting = fixture.externalAgent('getRequest', { id: request.id, wait: 60_000 })
    await runPendingWork()
    await fixture.externalAgent('attachSession', { id })
    await fixture.clock.advance(50_000)
    expect(await stateOf()).toBe('disconnected')
    await fixture.clock.advance(10_000)
    await waiting
  })
})

describe('the start and the end of a lease', () => {
  it('a session that a person opened for an agent is disconnected until the agent calls', async () => {
    const { id: agent, secret } = await fixture.person('addToken', { role: 'agent', name: 'deploy' })
    const session = await fixture.person('startSession', { driver: 'external', options: { agent } })
    expect(session.state).toBe('disconnected')
    const caller = await fixture.gateway.authenticate({ kind: 'bearer', secret }, 'api')
    await fixture.gateway.dispatch(caller, 'listCommands', { id: session.id })
    await runPendingWork()
    expect(await stateOf(session.id)).toBe('idle')
  })
  it('a session from which the agent detaches without an ending is disconnected at once', async () => {
    expect(await fixture.externalAgent('detachSession', { id })).toMatchObject({ state: 'disconnected' })
  })
  it('attachSession says how long the lease lasts', async () => {
    expect(await fixture.externalAgent('attachSession', { id })).toMatchObject({ ttlMs: agentTtlMs })
  })
  it('the command to end a session is done when the agent detaches, and at the latest when its lease expires', async () => {
    const other = (await fixture.externalAgent('startSession', { driver: 'external' })).id
    for (const session of [id, other]) await fixture.person('endSession', { id: session })
    expect((await fixture.externalAgent('listCommands', { id })).items).toMatchObject([{ body: { kind: 'end' } }])
    await fixture.externalAgent('detachSession', { id })
    expect((await fixture.externalAgent('listCommands', { id })).items).toEqual([])
    await silence()
    expect((await fixture.externalAgent('listCommands', { id: other })).items).toEqual([])
  })
})

describe('a restart of the gateway', () => {
  it('after a restart of the gateway, every agent has a full lease to call again, and only agents that do not call are disconnected', async () => {
    const silent = (await fixture.externalAgent('startSession', { driver: 'external' })).id
    await fixture.gateway.close()
    await fixture.clock.advance(10 * agentTtlMs)
    await fixture.open()
    await fixture.clock.advance(agentTtlMs - 2 * sweepMs)
    expect([await stateOf(), await stateOf(silent)]).toEqual(['idle', 'idle'])
    await fixture.externalAgent('renewSession', { id })
    await fixture.clock.advance(4 * sweepMs)
    expect([await stateOf(), await stateOf(silent)]).toEqual(['idle', 'disconnected'])
  })
  it('a disconnected session stays disconnected when the gateway restarts', async () => {
    await silence()
    await fixture.gateway.close()
    await fixture.open()
    expect(await stateOf()).toBe('disconnected')
  })
})

/** Checks how sessions change state: which triggers are refused, what an end does to everything that is open, and when a released session needs a runner. */
import { type Command, type Ending, Fault, limits, type SessionId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { checkUsage } from '../../../test/support/usage-check.ts'
import { ChangeBuilder } from '../src/change-builder.ts'
import { defaultSettings, type SessionRow } from '../src/index.ts'
import { applySessionTransition, nextSessionState } from '../src/session-transitions.ts'
import { sessionTransitions } from '../src/transitions.ts'
import { type AttachedAgent, approval, type GatewayFixture, openFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
let id: SessionId
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
  id = agent.session.id
})
const rowNow = async () => (await fixture.store.get('session', id)) as SessionRow // the session is never deleted here
const detach = (ending?: Ending) =>
  fixture.runner('detachSession', { id, fence: agent.fence, ...(ending ? { ending } : {}) })
/** Starts the runner again, so that its sessions lose their runner. */
const loseRunner = () => fixture.announce()
const takeMessage = async (by = agent) => {
  const command = await fixture.person('sendMessage', { id: by.session.id, text: 'go' })
  await fixture.runner('takeCommand', { id: command.id, fence: by.fence })
  return command
}
const eventsOf = async (type: string) =>
  (await fixture.store.events({ after: 0, limit: 1000 })).map(event => event.body).filter(body => body?.type === type)

describe('the next state of a session', () => {
  const states = ['starting', 'working', 'idle', 'parked', 'ended'] as const
  const triggers = Object.keys(sessionTransitions.idle) as (keyof typeof sessionTransitions.idle)[] // the table has only these keys
  const nextOf = (row: SessionRow, trigger: (typeof triggers)[number]) => {
    const next = nextSessionState(row, trigger)
    return next instanceof Fault ? next.code : next
  }
  it('the next state of a session is the state in the table, or depends on the session if the table says so', async () => {
    const row = await rowNow()
    for (const state of states)
      for (const trigger of triggers) {
        const transition = sessionTransitions[state][trigger]
        const expected = { stay: state, resume: 'idle', parkOrEnd: 'parked', reopen: 'parked', refuse: '' }
        if (transition === 'refuse')
          expect(nextOf({ ...row, state }, trigger)).toBe(state === 'ended' ? 'session_ended' : 'session_live')
        else
          expect(nextOf({ ...row, state }, trigger)).toBe(
            Object.hasOwn(expected, transition) ? expected[transition as keyof typeof expected] : transition,
          )
      }
  })
  it('the next state of a session is working after an attach, if a turn is open', async () => {
    const row: SessionRow = { ...(await rowNow()), turnOpen: true }
    for (const state of ['starting', 'parked'] as const) expect(nextOf({ ...row, state }, 'attach')).toBe('working')
  })
  it('the next state of a session depends on whether the driver can resume, if the runner is lost or a message arrives after the end', async () => {
    const row: SessionRow = { ...(await rowNow()), capabilities: ['messages'] }
    for (const state of ['working', 'idle'] as const) expect(nextOf({ ...row, state }, 'runnerLost')).toBe('ended')
    expect(nextOf({ ...row, state: 'ended' }, 'message')).toBe('session_ended')
  })
  it('a transition of a session that has ended is refused with the reason of the end', async () => {
    const row: SessionRow = { ...(await rowNow()), state: 'ended' }
    expect(nextSessionState(row, 'attach')).toMatchObject({
      message: expect.stringContaining('(done)'),
      detail: { id },
    })
    const failed: SessionRow = { ...row, ending: { reason: 'failed' } }
    expect(nextSessionState(failed, 'attach')).toMatchObject({ message: expect.stringContaining('(failed)') })
    expect(nextSessionState({ ...row, state: 'idle' }, 'delete')).toMatchObject({
      code: 'session_live',
      detail: { id },
    })
  })
  it('the next state of a session cannot be applied if the table refuses it or deletes the session', async () => {
    const row = await rowNow()
    const apply = (state: SessionRow['state'], trigger: (typeof triggers)[number]) =>
      fixture.store.commit({
        label: 'apply',
        reads: [],
        decide: view => ({ result: applySessionTransition(new ChangeBuilder(view), { ...row, state }, trigger) }),
      })
    await expect(apply('ended', 'startTurn')).rejects.toThrow('startTurn is not allowed in a session that is ended')
    await expect(apply('ended', 'delete')).rejects.toThrow('delete is not allowed')
    fixture.clock.jump(5)
    expect(await apply('idle', 'startTurn')).toMatchObject({ state: 'working', stateChangedAt: fixture.clock.now() })
    expect(await apply('idle', 'finishTurn')).toMatchObject({ state: 'idle', stateChangedAt: row.stateChangedAt })
  })
})

describe('text that was still streaming', () => {
  const stream = (agentPath?: string[]) =>
    agent.append({ type: 'message.delta', block: 'b', offset: 0, text: 'half a', ...(agentPath ? { agentPath } : {}) })
  it.each<[string, () => Promise<unknown>]>([
    ['an ask', () => agent.ask('k')],
    ['an interrupt', () => fixture.person('interruptSession', { id })],
    ['a park', () => detach()],
    ['the loss of the runner', loseRunner],
    ['an end', () => fixture.person('endSession', { id })],
  ])('text that was still streaming is stored as a partial message before %s', async (_, way) => {
    await stream()
    await way()
    expect(await eventsOf('message.added')).toEqual([
      { type: 'message.added', block: 'b', role: 'agent', text: 'half a', partial: true },
    ])
  })
  it('text that was still streaming is stored with the subagent that wrote it', async () => {
    await stream(['sub'])
    await detach()
    expect(await eventsOf('message.added')).toMatchObject([{ agentPath: ['sub'], partial: true }])
  })
})

describe('the end of a session', () => {
  const withProcess = () => agent.append({ type: 'session.changed', process: { state: 'live' } })
  it('the end of a session closes its requests, commands and streaming text, and no longer counts the session', async () => {
    await takeMessage()
    await withProcess()
    const waiting = await fixture.person('sendMessage', { id, text: 'never read' })
    const request = await agent.ask('k')
    fixture.clock.jump(7)
    const now = fixture.clock.now()
    const ended = await fixture.person('endSession', { id })
    expect(ended).toMatchObject({
      state: 'ended',
      stateChangedAt: now,
      endedAt: now,
      ending: { reason: 'stopped', detail: 'ended by ada' },
      process: { state: 'stopped', changedAt: now },
    })
    expect(await rowNow()).toMatchObject({ turnOpen: false, needsRunner: false })
    expect((await fixture.store.get('request', request.id))?.resolution?.reason).toBe('session_ended')
    expect(await fixture.store.get('command', waiting.id)).toMatchObject({
      state: 'done',
      outcome: { ok: false, reason: 'the session ended first' },
    })
    expect((await fixture.person('listCommands', { id })).items).toMatchObject([{ body: { kind: 'end' } }])
    expect(await eventsOf('session.ended')).toMatchObject([{ value: { id, state: 'ended', pending: 0 } }])
    await checkUsage(fixture.store)
    await detach()
    expect(await eventsOf('command.done')).toMatchObject([
      { outcome: { ok: false } },
      { outcome: { ok: false } },
      { outcome: { ok: true } },
    ])
    expect((await rowNow()).lease).toBeNull()
  })
  it('the end of a session that the agent reports leaves no end command and no lease', async () => {
    const ending = { reason: 'done', detail: 'all tests pass' } as const
    await fixture.runner('detachSession', { id, fence: agent.fence, ending })
    expect(await rowNow()).toMatchObject({ state: 'ended', ending, lease: null, process: null })
    expect((await fixture.person('listCommands', { id })).items).toEqual([])
  })
  it.each([
    ['taken', 'its agent is done', () => detach({ reason: 'done' })],
    ['unknown', 'its agent has failed', () => detach({ reason: 'failed' })],
    ['unknown', 'a person ended it', () => fixture.person('endSession', { id })],
  ] as const)('an answer that was handed to the agent before the end counts as %s if %s', async (state, _, end) => {
    const request = await agent.ask('k')
    await fixture.allow(request)
    await agent.report(request, 'handed')
    await end()
    expect((await rowNow()).state).toBe('ended')
    expect((await fixture.store.get('request', request.id))?.delivery.state).toBe(state)
  })
  it('the end of a session has the reason “lost” if the runner was lost, and marks the process as lost', async () => {
    const fragile = await fixture.startAttached('unresumable')
    await fragile.append({ type: 'session.changed', process: { state: 'live' } })
    const request = await fragile.ask('k')
    await loseRunner()
    expect((await fixture.store.get('request', request.id))?.resolution?.reason).toBe('lost')
    expect(await fixture.store.get('session', fragile.session.id)).toMatchObject({
      state: 'ended',
      ending: { reason: 'lost', detail: 'its runner was lost' },
      process: { state: 'lost' },
      lease: null,
      runner: null,
    })
    await checkUsage(fixture.store)
  })
  it('the end of a session does not change the state of a process that had already stopped', async () => {
    await agent.append({ type: 'session.changed', process: { state: 'stopped' } })
    const { process } = await rowNow()
    fixture.clock.jump(5)
    await fixture.person('endSession', { id })
    expect((await rowNow()).process).toEqual(process)
  })
})

describe('a session that loses its runner or is parked', () => {
  it('a session that loses its runner or is parked shows its process as lost or as stopped', async () => {
    await agent.append({ type: 'session.changed', process: { state: 'live' } })
    await detach()
    expect(await rowNow()).toMatchObject({ state: 'parked', lease: null, process: { state: 'stopped' } })
    agent = await fixture.attach(id)
    await agent.append({ type: 'session.changed', process: { state: 'live' } })
    await loseRunner()
    expect(await rowNow()).toMatchObject({ state: 'parked', lease: null, process: { state: 'lost' } })
    expect((await eventsOf('session.changed')).at(-1)).toMatchObject({ value: { state: 'parked' } })
  })
  const works: readonly (readonly [string, boolean, () => Promise<unknown>])[] = [
    ['its agent has nothing to do', false, async () => {}],
    ['a turn is open', true, () => takeMessage()],
    ['a message waits', true, () => fixture.person('sendMessage', { id, text: 'go' })],
    ['a request is pending', false, () => agent.ask('k')],
    [
      'a turn is open and a request is pending',
      false,
      async () => {
        await takeMessage()
        await agent.ask('k')
      },
    ],
    [
      'a turn is open without a command, and nothing is pending',
      true,
      () => agent.append({ type: 'session.changed', state: 'working' }),
    ],
    [
      'a message waits and a request is pending',
      false,
      async () => {
        await agent.ask('k')
        await fixture.person('sendMessage', { id, text: 'go' })
      },
    ],
    ['an answer waits', true, async () => fixture.allow(await agent.ask('k'))],
    [
      'an answer waits and another request is pending',
      true,
      async () => {
        await fixture.allow(await agent.ask('k'))
        await agent.ask('other', approval('pwd'))
      },
    ],
    [
      'the agent has an answer but has not taken it',
      false,
      async () => {
        const request = await agent.ask('k')
        await fixture.allow(request)
        await agent.report(request, 'handed')
      },
    ],
  ]
  it.each(works)('a session that is parked while %s needs a runner: %s', async (_, needs, prepare) => {
    await prepare()
    await detach()
    expect(await rowNow()).toMatchObject({ state: 'parked', needsRunner: needs })
  })
})

describe('an external session whose agent is lost', () => {
  it('an external session whose agent is lost is disconnected and needs no runner, even if an answer waits', async () => {
    const { id: external } = await fixture.externalAgent('startSession', { driver: 'external' })
    await fixture.allow(await fixture.externalAgent('openRequest', { id: external, key: 'k', ask: approval() }))
    await fixture.clock.advance(defaultSettings.agentTtlMs + defaultSettings.sweepMs)
    expect(await fixture.store.get('session', external)).toMatchObject({ state: 'disconnected', needsRunner: false })
  })
})

describe('a session that is attached again and again', () => {
  const attachTimes = async (times: number) => {
    for (let i = 0; i < times; i++) {
      await loseRunner()
      agent = await fixture.attach(id)
    }
  }
  it('a session that is attached again and again ends as failed at the limit, if its agent has something to do and does nothing', async () => {
    await takeMessage()
    await attachTimes(limits.idleAttachesMax - 1)
    await loseRunner()
    expect((await rowNow()).state).toBe('parked')
    agent = await fixture.attach(id)
    await loseRunner()
    expect(await rowNow()).toMatchObject({
      state: 'ended',
      ending: { reason: 'failed', detail: expect.stringContaining(`${limits.idleAttachesMax} times in a row`) },
      lease: null,
      needsRunner: false,
    })
    expect(await eventsOf('session.ended')).toHaveLength(1)
  })
  it('a session that is attached again and again continues if its agent has nothing to do, or did something at the last attach', async () => {
    await attachTimes(limits.idleAttachesMax + 1)
    expect((await rowNow()).state).toBe('idle')
    await takeMessage()
    expect((await rowNow()).idleAttaches).toBe(0)
    await attachTimes(limits.idleAttachesMax)
    expect((await rowNow()).state).toBe('working')
  })
})

describe('events of a session', () => {
  it('events of a session contain who may act for its agent when it is opened, and the new fence when it is attached', async () => {
    const { id: external } = await fixture.person('startSession', { driver: 'external' })
    const opened = await eventsOf('session.opened')
    expect(opened).toMatchObject([
      { fence: 0, agent: null, openedBy: null, value: { id, state: 'starting', pending: 0 } },
      { fence: 0, agent: null, openedBy: { id: 'per_ada', name: 'ada' }, value: { id: external, state: 'idle' } },
    ])
    expect((await eventsOf('session.changed')).at(-1)).toMatchObject({ fence: agent.fence, value: { id } })
  })
  it('events of a session contain the number of pending requests', async () => {
    await agent.ask('k')
    await fixture.person('patchSession', { id, title: 'other' })
    expect((await eventsOf('session.changed')).at(-1)).toMatchObject({ value: { pending: 1 } })
  })
  it('events of a session contain the end of each command once', async () => {
    const command = await takeMessage()
    const finish = () => fixture.runner('finishCommand', { id: command.id, fence: agent.fence })
    await finish()
    expect((await eventsOf('command.done')) as unknown[]).toEqual([
      { type: 'command.done', command: (command as Command).id, outcome: { ok: true } },
    ])
  })
})

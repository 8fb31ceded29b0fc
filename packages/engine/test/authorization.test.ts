/** Checks what each caller may do beyond the access table: whose sessions a caller sees, for whose agent a caller may write, and what the input of a call needs in addition. */
import { Fault, type SessionId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  accessFault,
  agentAccessFault,
  extraActions,
  hideSession,
  mayRead,
  maySee,
  personIdOf,
  requestNotFound,
  requireAgentAccess,
  requireShownAction,
  ruleAccessFault,
  runnerAccessFault,
  sessionNotFound,
  visibleSessions,
} from '../src/authorization.ts'
import type { Caller, SessionRow } from '../src/index.ts'
import {
  ada,
  bob,
  type GatewayFixture,
  openFixture,
  robot,
  runnerCaller,
  runnerCallerFor,
  runnerId,
  stranger,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
/** A session that runner 0 drives, the same session after its runner has parked it, and external sessions that an agent and a person opened. */
let rows: { driven: SessionRow; parked: SessionRow; ofAgent: SessionRow; ofPerson: SessionRow }
beforeEach(async () => {
  fixture = await openFixture()
  const rowOf = async (id: SessionId) => (await fixture.store.get('session', id)) as SessionRow // every id is of a session that was just started
  const agent = await fixture.startAttached()
  const driven = await rowOf(agent.session.id)
  await fixture.runner('detachSession', { id: agent.session.id, fence: agent.fence })
  const start = async (call = fixture.externalAgent) => rowOf((await call('startSession', { driver: 'external' })).id)
  rows = {
    driven,
    parked: await rowOf(agent.session.id),
    ofAgent: await start(),
    ofPerson: await start(fixture.person),
  }
})
const otherRunner = runnerCallerFor(1)
const everybody = { ada, bob, runnerCaller, otherRunner, robot, stranger }
const codeOf = (fault: unknown) => (fault instanceof Fault ? fault.code : null)
/** Returns the callers that pass a check, for each session. */
function whoMay(check: (caller: Caller, row: SessionRow) => boolean): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [
      name,
      Object.entries(everybody).flatMap(([who, caller]) => (check(caller, row) ? [who] : [])),
    ]),
  )
}

describe('accessFault', () => {
  it('accessFault returns null if the role may do the action', () => {
    expect(accessFault(ada, 'backup')).toBeNull()
    expect(accessFault(null, 'signIn')).toBeNull()
    expect(accessFault(robot, 'openRequest')).toBeNull()
  })
  it('accessFault asks a caller without a credential to send one', () => {
    expect(accessFault(null, 'listSessions')).toMatchObject({ code: 'unauthenticated' })
  })
  it.each([
    ['answerRequest', robot, 'An agent’s credential cannot answer requests; only a person can'],
    ['answerRequests', robot, 'An agent’s credential cannot answer requests; only a person can'],
    ['listRules', robot, 'The credential of an agent may not call listRules'],
    [
      'startSession.mode',
      robot,
      'The credential of an agent may not start a session in a chosen mode; only the owner of this gateway may',
    ],
    ['answerRequest', runnerCaller, 'The credential of a runner may not call answerRequest'],
    ['subscribe', runnerCaller, 'The credential of a runner may not open the event stream'],
    ['announceRunner', bob, 'The credential of a person may not call announceRunner'],
    ['backup', bob, 'The credential of a person may not call backup; only the owner of this gateway may'],
    [
      'answer.settings',
      bob,
      'The credential of a person may not accept a suggestion that changes settings; only the owner of this gateway may',
    ],
  ] as const)('the message of accessFault for %s says what the caller may not do', (action, caller, message) => {
    expect(accessFault(caller, action)).toMatchObject({ code: 'forbidden', message })
  })
  it.each([
    ['startSession.options', 'start a session with options'],
    ['patchSession.mode', 'change the mode of a session'],
    ['answer.mode', 'change the mode with an answer'],
    ['rule.allow', 'add or change a rule that allows something'],
    ['rule.others', 'change or remove a rule that somebody else has added'],
    ['makeLink.person', 'create a link for another person'],
  ] as const)('the message of accessFault for %s describes the action in words', (action, words) => {
    expect(accessFault(bob, action)?.message).toBe(
      `The credential of a person may not ${words}; only the owner of this gateway may`,
    )
  })
})

describe('extraActions', () => {
  it.each([
    ['a session without mode and options', { driver: 'x' }, []],
    ['a session with empty options', { driver: 'x', options: {} }, []],
    ['a session in a mode', { driver: 'x', mode: 'plan' }, ['startSession.mode']],
    ['a session with options', { driver: 'x', options: { a: 1 } }, ['startSession.options']],
    ['an external session with a mode and options', { driver: 'external', mode: 'plan', options: { a: 1 } }, []],
  ])('extraActions returns the further permissions for %s', (_, input, actions) => {
    expect(extraActions('startSession', input as never)).toEqual(actions) // extraActions reads only these fields
  })
  it('extraActions returns no further actions for other operations', () => {
    const id = rows.driven.id
    expect(extraActions('patchSession', { id, mode: 'plan' })).toEqual(['patchSession.mode'])
    expect(extraActions('patchSession', { id, title: 'x' })).toEqual([])
    expect(extraActions('makeLink', { person: 'per_x' as never })).toEqual(['makeLink.person']) // any id will do
    expect(extraActions('makeLink', {})).toEqual([])
    expect(extraActions('addRule', { effect: 'allow' })).toEqual(['rule.allow'])
    expect(extraActions('addRule', { effect: 'ask' })).toEqual([])
    const ofRule = 'rul_x' as never // any id will do
    expect(extraActions('patchRule', { id: ofRule, rule: { effect: 'allow' } })).toEqual(['rule.allow'])
    expect(extraActions('patchRule', { id: ofRule, rule: { effect: 'deny' } })).toEqual([])
    expect(extraActions('patchRule', { id: ofRule, paused: true })).toEqual([])
    expect(extraActions('getSession', { id })).toEqual([])
  })
})

describe('a rule that somebody else has added', () => {
  it('a rule that somebody else has added can be changed only by the owner of the gateway', () => {
    const ofBob = { madeById: bob.id }
    for (const caller of [ada, bob]) expect(codeOf(ruleAccessFault(caller, ofBob)), caller.name).toBeNull()
    expect(codeOf(ruleAccessFault({ ...bob, id: 'per_x' }, ofBob))).toBe('forbidden')
    expect(ruleAccessFault(bob, { madeById: ada.id })?.message).toMatch(/that somebody else has added/)
  })
})

describe('an agent’s call with an action that differs from its input', () => {
  const call = { tool: 'T', input: { path: '/a' }, cwd: '/', action: { read: ['/b'] } }
  it('an action that the input of the call does not show is accepted only from a runner', () => {
    expect(() => requireShownAction(runnerCaller, call)).not.toThrow()
    for (const caller of [ada, bob, robot])
      expect(() => requireShownAction(caller, call), caller.name).toThrow(
        expect.objectContaining({ code: 'bad_input', message: expect.stringMatching(/^action: /) }),
      )
    expect(() => requireShownAction(robot, { ...call, action: { read: ['/a'] } })).not.toThrow()
  })
})

describe('the sessions of a caller', () => {
  const expected = {
    driven: ['ada', 'bob', 'runnerCaller'],
    parked: ['ada', 'bob'],
    ofAgent: ['ada', 'bob', 'robot'],
    ofPerson: ['ada', 'bob'],
  }
  it('A16: a session is visible to people, to the runner that holds its lease, and to its agent', () => {
    expect(whoMay(maySee)).toEqual(expected)
  })
  it('A16: a session can also be read by the runner that drove it last, and by no other runner', () => {
    expect(whoMay(mayRead)).toEqual({ ...expected, parked: expected.driven })
  })
  it('A16: the database query for a caller selects exactly the sessions that the caller may see', async () => {
    const found = async (caller: Caller) =>
      new Set((await fixture.store.find('session', { where: visibleSessions(caller) })).map(row => row.id))
    for (const caller of [ada, bob, robot, stranger, otherRunner])
      expect(await found(caller), caller.name).toEqual(
        new Set(Object.values({ ...rows, driven: rows.parked }).flatMap(row => (maySee(caller, row) ? [row.id] : []))),
      )
    expect(visibleSessions(runnerCaller)).toEqual({ runner: runnerId() })
  })
})

describe('the right to write for an agent', () => {
  it('A16: the right to write for an agent belongs to its runner, to the agent itself, and to the person who opened an external session', () => {
    expect(whoMay((caller, row) => agentAccessFault(caller, row) === null)).toEqual({
      driven: ['runnerCaller'],
      // The fence tells the last runner that it no longer holds the session.
      parked: ['runnerCaller'],
      ofAgent: ['robot'],
      ofPerson: ['ada'],
    })
  })
  it('the right to write for an agent is refused without revealing the session, except to people, who may see every session', () => {
    const codes = (row: SessionRow) => Object.values(everybody).map(caller => codeOf(agentAccessFault(caller, row)))
    expect(codes(rows.driven)).toEqual(['forbidden', 'forbidden', null, 'not_found', 'not_found', 'not_found'])
    expect(codes(rows.ofPerson)).toEqual([null, 'forbidden', 'not_found', 'not_found', 'not_found', 'not_found'])
    expect(agentAccessFault(bob, rows.driven)?.message).toContain('is driven by a runner')
    expect(agentAccessFault(bob, rows.ofPerson)?.message).toContain('belongs to ada and the agent named')
    expect(agentAccessFault(bob, rows.ofAgent)?.message).toContain('belongs to the agent that opened it')
  })
  it('the right to write for an agent belongs to the agent and to the person, if a person opened the session for that agent', () => {
    const named = { ...rows.ofPerson, agent: robot.token as SessionRow['agent'] } // the token of a caller is the id of a token
    for (const caller of [ada, robot]) expect(agentAccessFault(caller, named)).toBeNull()
    for (const caller of [bob, stranger]) expect(agentAccessFault(caller, named)).not.toBeNull()
  })
})

describe('writing for an agent', () => {
  const write = (row: SessionRow | undefined, caller: Caller, fence?: number, ended?: 'allowEnded') =>
    codeOf(requireAgentAccess(row, caller, rows.driven.id, fence, ended))
  it('writing for an agent is refused if there is no such session, or if the caller has no right to it', () => {
    expect(write(undefined, runnerCaller, 1)).toBe('not_found')
    expect(write(rows.driven, otherRunner, rows.driven.fence)).toBe('not_found')
    expect(write(rows.driven, ada, rows.driven.fence)).toBe('forbidden')
  })
  it('writing for an agent needs the current fence in a session that a runner drives', () => {
    const { driven, parked } = rows
    expect(requireAgentAccess(driven, runnerCaller, driven.id, driven.fence)).toBe(driven)
    expect(write(driven, runnerCaller)).toBe('bad_input')
    expect(write(driven, runnerCaller, driven.fence - 1)).toBe('fenced')
    expect(write(driven, runnerCaller, driven.fence + 1)).toBe('fenced')
    expect(parked.fence).toBe(driven.fence)
    expect(write(parked, runnerCaller, parked.fence), 'nobody holds the lease').toBe('fenced')
  })
  it('writing for an agent needs no fence in an external session, but a fence that the caller sends must be current', () => {
    const { ofAgent } = rows
    expect(write(ofAgent, robot)).toBeNull()
    expect(write(ofAgent, robot, ofAgent.fence)).toBeNull()
    expect(write({ ...ofAgent, lease: null }, robot, ofAgent.fence), 'the lease has expired').toBeNull()
    expect(write(ofAgent, robot, ofAgent.fence + 1)).toBe('fenced')
  })
  it('writing for an agent is refused in an ended session unless the operation allows it', () => {
    const ended = { ...rows.ofAgent, state: 'ended' } as const
    expect(write(ended, robot)).toBe('session_ended')
    expect(requireAgentAccess(ended, robot, ended.id, undefined)).toMatchObject({
      message: expect.stringContaining('(done)'),
    })
    const lost = { ...ended, ending: { reason: 'lost' } } as const
    expect(requireAgentAccess(lost, robot, ended.id, undefined)).toMatchObject({
      message: expect.stringContaining('(lost)'),
    })
    expect(write(ended, robot, undefined, 'allowEnded')).toBeNull()
  })
})

describe('a token of a runner', () => {
  it('the token of a runner is valid for one runner only, while other roles can act for any runner', () => {
    expect(runnerAccessFault(runnerCaller, runnerId(0))).toBeNull()
    expect(runnerAccessFault(runnerCaller, runnerId(1))).toMatchObject({
      code: 'forbidden',
      detail: { id: runnerCaller.id },
    })
    expect(runnerAccessFault(ada, runnerId(1))).toBeNull()
  })
})

describe('a fault about something that the caller may not see', () => {
  it('a fault about something that the caller may not see is the same as for an unknown id, and names the id that the caller sent', () => {
    const notFound = requestNotFound('req_x')
    expect(notFound).toMatchObject({ code: 'not_found', detail: { id: 'req_x' } })
    expect(hideSession(sessionNotFound('ses_x', robot), () => notFound)).toBe(notFound)
    const fenced = new Fault('fenced', 'stale')
    expect(hideSession(fenced, () => notFound)).toBe(fenced)
    expect(hideSession(rows.driven, () => notFound)).toBe(rows.driven)
  })
  it('a fault about something that the caller may not see tells only agents how they can get access to a session', () => {
    expect(sessionNotFound('ses_x', robot).message).toContain('options.agent')
    for (const caller of [ada, runnerCaller, undefined])
      expect(sessionNotFound('ses_x', caller).message).toBe('There is no session ses_x')
    expect(sessionNotFound('ses_x').detail).toEqual({ id: 'ses_x' })
  })
})

it('the id of a person comes only from the credential of a person', () => {
  expect([personIdOf(ada), personIdOf(bob)]).toEqual([ada.id, bob.id])
  for (const caller of [robot, runnerCaller]) expect(() => personIdOf(caller)).toThrow(/is (agent|runner)/)
})

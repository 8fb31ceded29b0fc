/** Sessions: start, messages, commands, interrupt, end, delete; external sessions; rules. */
import { type Command, limits, type SessionId } from '@holdpoint/protocol'
import { verifyChain } from '@holdpoint/store'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Caller, type Change, callAs, type RuleRow, type Store } from '../src/index.ts'
import {
  type AttachedAgent,
  ada,
  approval,
  expectFault,
  GatewayFixture,
  openFixture,
  robot,
  runnerCaller,
  runnerId,
  secretAsk,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
let id: SessionId
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
  id = agent.session.id
})
const commands = async () => (await fixture.person('listCommands', { id })).items
const take = (command: Pick<Command, 'id'>, by = agent) =>
  fixture.runner('takeCommand', { id: command.id, fence: by.fence })
const finish = (command: Pick<Command, 'id'>, by = agent) =>
  fixture.runner('finishCommand', { id: command.id, fence: by.fence })

describe('startSession', () => {
  it('startSession creates a session that waits for a runner, with the prompt as its first command', async () => {
    const session = await fixture.person('startSession', { driver: 'resumable', prompt: 'Do it\nnow', cwd: '/srv' })
    expect(session).toMatchObject({ state: 'starting', title: 'Do it', cwd: '/srv', pending: 0, runner: null })
    expect((await fixture.person('listCommands', { id: session.id })).items).toMatchObject([
      { seq: 1, state: 'waiting', body: { kind: 'message', text: 'Do it\nnow' }, madeBy: 'ada' },
    ])
  })
  it('startSession is refused if no runner offers the driver, or the driver is not ready', async () => {
    await expectFault(fixture.person('startSession', { driver: 'nowhere' }), 'no_runner')
    await fixture.announce(0, [
      { name: 'resumable', title: '', capabilities: [], modes: [], ready: false, missing: 'a key' },
    ])
    await expect(fixture.person('startSession', { driver: 'resumable' })).rejects.toMatchObject({
      code: 'no_runner',
      message: expect.stringContaining('a key'),
    })
  })
  it('startSession creates a waiting session if no runner is live', async () => {
    await fixture.person('retireRunner', { id: runnerId() })
    expect(await fixture.person('startSession', { driver: 'anything' })).toMatchObject({ state: 'starting' })
  })
})

describe('commands of a session', () => {
  it('commands of a session are listed in order, taken once and finished', async () => {
    for (const text of ['one', 'two', 'three']) await fixture.person('sendMessage', { id, text })
    await fixture.person('patchSession', { id, mode: 'plan', title: 'New' })
    expect((await commands()).map(command => command.body.kind)).toEqual(['message', 'message', 'message', 'mode'])
    expect((await commands()).map(command => command.seq)).toEqual([1, 2, 3, 4])
    const [one] = (await commands()) as [Command]
    expect(await take(one)).toMatchObject({ state: 'taken' })
    expect(await take(one)).toMatchObject({ state: 'taken' })
    expect((await fixture.eventTypes()).filter(type => type === 'command.taken')).toHaveLength(1)
    expect(await finish(one)).toMatchObject({ state: 'done', outcome: { ok: true } })
    expect(await finish(one)).toMatchObject({ state: 'done' })
    expect((await fixture.eventTypes()).filter(type => type === 'command.done')).toHaveLength(1)
    expect((await commands()).map(command => command.seq)).toEqual([2, 3, 4])
    expect((await fixture.person('listCommands', { id, after: 3 })).items.map(command => command.seq)).toEqual([4])
  })
  it('a message makes its session working from the time when the command is taken until the turn has finished', async () => {
    const command = await fixture.person('sendMessage', { id, text: 'go' })
    await take(command)
    expect(await fixture.person('getSession', { id })).toMatchObject({ state: 'working' })
    await agent.append(
      { type: 'message.added', block: 'a', text: 'Done.' },
      { type: 'turn.finished', ending: 'done', cost: 0.5 },
    )
    expect(await fixture.person('getSession', { id })).toMatchObject({ state: 'idle', lastMessage: 'Done.', cost: 0.5 })
    await agent.append({ type: 'turn.finished', ending: 'done', cost: 0.25 })
    expect(await fixture.person('getSession', { id })).toMatchObject({ cost: 0.75 })
  })
  it('commands of a session are listed again if a previous runner took but did not finish them', async () => {
    const command = await fixture.person('sendMessage', { id, text: 'go' })
    await take(command)
    await fixture.announce()
    const next = await fixture.attach(id)
    expect(await commands()).toMatchObject([{ id: command.id, state: 'taken' }])
    await expectFault(finish(command), 'fenced')
    expect(await finish(command, next)).toMatchObject({ state: 'done' })
  })
  it('commands of a session wake a runner that waits in listCommands', async () => {
    const waiting = fixture.person('listCommands', { id, wait: 10_000 })
    await fixture.clock.advance(100)
    await fixture.person('sendMessage', { id, text: 'go' })
    expect((await waiting).items).toHaveLength(1)
    const idle = fixture.person('listCommands', { id, wait: 10_000, after: 1 })
    await fixture.clock.advance(10_000)
    expect((await idle).items).toEqual([])
  })
  it('commands of a session are limited in number, and listCommands can list the maximum number', async () => {
    for (let i = 0; i < limits.waitingCommandsMax; i++) await fixture.person('sendMessage', { id, text: `${i}` })
    await expectFault(fixture.person('sendMessage', { id, text: 'one more' }), 'too_many')
    await expectFault(fixture.person('patchSession', { id, mode: 'plan' }), 'too_many')
    expect(await fixture.person('patchSession', { id, title: 'a title is no command' })).toMatchObject({ id })
    const page = (await fixture.person('listCommands', { id, after: limits.pageMax })).items
    expect(page[0]?.seq).toBe(limits.pageMax + 1)
    await finish((await commands())[0] as Command)
    await fixture.person('sendMessage', { id, text: 'fits again' })
  })
  it('the messages that wait for an agent are limited in total size, and more are accepted when the agent has read some', async () => {
    const text = 'x'.repeat(limits.textMax)
    const fitting = Math.floor(limits.waitingTextMax / limits.textMax)
    for (let i = 0; i < fitting; i++) await fixture.person('sendMessage', { id, text })
    await expectFault(fixture.person('sendMessage', { id, text: 'one more' }), 'too_many')
    expect(await fixture.person('interruptSession', { id })).toMatchObject({ id })
    await finish((await commands())[0] as Command)
    await fixture.person('sendMessage', { id, text })
  })
  it('commands of a session reopen the parked session of an external agent that takes them', async () => {
    const session = await fixture.externalAgent('startSession', { driver: 'external' })
    await fixture.externalAgent('detachSession', { id: session.id })
    const command = await fixture.person('sendMessage', { id: session.id, text: 'hi' })
    expect(await fixture.externalAgent('takeCommand', { id: command.id })).toMatchObject({ state: 'taken' })
    expect(await fixture.person('getSession', { id: session.id })).toMatchObject({ state: 'working' })
  })
})

describe('interruptSession and stopEverything', () => {
  it('interruptSession resolves pending requests and makes undelivered answers undeliverable', async () => {
    const [pending, answered] = [await agent.ask('a'), await agent.ask('b', approval('b'))]
    await fixture.allow(answered)
    await fixture.person('interruptSession', { id })
    expect(await fixture.person('getRequest', { id: pending.id })).toMatchObject({
      resolution: { by: 'agent', reason: 'interrupted' },
      delivery: { state: 'taken' },
    })
    expect(await fixture.person('getRequest', { id: answered.id })).toMatchObject({
      delivery: { state: 'undeliverable' },
    })
    await expectFault(agent.report(answered, 'handed'), 'already_resolved')
    expect((await commands()).map(command => command.body.kind)).toEqual(['interrupt'])
  })
  it('interruptSession adds no second interrupt command while the first is waiting, unless a message was sent since', async () => {
    for (let i = 0; i < 3; i++) await fixture.person('interruptSession', { id })
    await fixture.person('sendMessage', { id, text: 'go on' })
    for (let i = 0; i < 3; i++) await fixture.person('interruptSession', { id })
    expect((await commands()).map(command => command.body.kind)).toEqual(['interrupt', 'message', 'interrupt'])
  })
  it('stopEverything interrupts every session that is working or has pending requests', async () => {
    const [busy, quiet] = [await fixture.startAttached(), await fixture.startAttached()]
    await take(await fixture.person('sendMessage', { id: busy.session.id, text: 'go' }), busy)
    const request = await agent.ask('k')
    expect(await fixture.person('stopEverything', {})).toEqual({ interrupted: [id, busy.session.id] })
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ status: 'resolved' })
    expect((await fixture.person('listCommands', { id: quiet.session.id })).items).toEqual([])
  })
  it('stopEverything commits a separate change for each session', async () => {
    const many = await Promise.all(
      Array.from({ length: 70 }, () => fixture.externalAgent('startSession', { driver: 'external' })),
    )
    for (const session of many)
      await fixture.externalAgent('openRequest', { id: session.id, key: 'k', ask: approval() })
    const sizes: number[] = []
    const commit = fixture.store.commit.bind(fixture.store)
    const counted: Store = Object.assign(Object.create(fixture.store), {
      commit: (change: Change<unknown>) => {
        sizes.push(change.reads.filter(read => read.table === 'session').length)
        return commit(change)
      },
    })
    await fixture.gateway.close()
    await new GatewayFixture(fixture.clock, counted).open().then(other => other.person('stopEverything', {}))
    expect(Math.max(...sizes)).toBe(1)
    expect((await fixture.store.find('request', { where: { status: 'pending' } })).length).toBe(0)
  })
  it('interruptSession is refused after the session has ended', async () => {
    await fixture.person('endSession', { id })
    await expectFault(fixture.person('interruptSession', { id }), 'session_ended')
  })
})

describe('the end of a session', () => {
  it('the end of a session resolves its requests, finishes its commands and notifies its runner', async () => {
    const request = await agent.ask('k')
    const command = await fixture.person('sendMessage', { id, text: 'never mind' })
    const ended = await fixture.person('endSession', { id })
    expect(ended).toMatchObject({
      state: 'ended',
      pending: 0,
      ending: { reason: 'stopped' },
      endedAt: fixture.clock.now(),
    })
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({
      resolution: { by: 'agent', reason: 'session_ended' },
    })
    expect((await commands()).map(open => open.body.kind)).toEqual(['end'])
    expect(await fixture.store.get('command', command.id)).toMatchObject({ state: 'done', outcome: { ok: false } })
    expect(await fixture.person('endSession', { id })).toEqual(ended)
    await fixture.runner('detachSession', { id, fence: agent.fence })
    expect(await commands()).toEqual([])
  })
  it('the end of a session has the reason and detail that the agent gave', async () => {
    const ended = await fixture.runner('detachSession', {
      id,
      fence: agent.fence,
      ending: { reason: 'failed', detail: 'oh' },
    })
    expect(ended).toMatchObject({ state: 'ended', ending: { reason: 'failed', detail: 'oh' } })
  })
  it('the end of a session does not prevent the agent from reporting an answer as taken', async () => {
    const request = await agent.ask('k')
    await fixture.allow(request)
    await agent.report(request, 'handed')
    await fixture.person('endSession', { id })
    expect(await agent.report(request, 'taken')).toMatchObject({ delivery: { state: 'taken' } })
  })
  it('the end of a session is undone by a message if the driver can resume, and the old `end` command is finished', async () => {
    await fixture.person('endSession', { id })
    expect((await commands()).map(open => open.body.kind)).toEqual(['end'])
    await fixture.person('sendMessage', { id, text: 'one more thing' })
    expect(await fixture.person('getSession', { id })).toMatchObject({ state: 'parked', ending: null, endedAt: null })
    expect((await commands()).map(open => open.body.kind)).toEqual(['message'])
    await expectFault(agent.ask('k'), 'fenced')
    const again = await fixture.attach(id)
    expect(again.session.state).toBe('idle')
    await again.ask('k')
  })
  it('the end of a session is final if the driver cannot resume', async () => {
    const fragile = await fixture.startAttached('unresumable')
    await fixture.person('endSession', { id: fragile.session.id })
    await expectFault(fixture.person('sendMessage', { id: fragile.session.id, text: 'hello?' }), 'session_ended')
  })
})

describe('deleting sessions', () => {
  it('deleteSession deletes an ended session with its history, and the hash chain stays valid', async () => {
    const request = await agent.ask('k', approval('very secret command'))
    await expectFault(fixture.person('deleteSession', { id }), 'session_live')
    await fixture.person('endSession', { id })
    await fixture.person('deleteSession', { id })
    await expectFault(fixture.person('getSession', { id }), 'not_found')
    await expectFault(fixture.person('getRequest', { id: request.id }), 'not_found')
    await expectFault(agent.append({ type: 'message.added', block: 'b', text: 't' }), 'not_found')
    expect(JSON.stringify(await fixture.store.events({ after: 0, limit: 1000 }))).not.toContain('very secret command')
    expect(await verifyChain(fixture.store)).toMatchObject({ ok: true })
  })
  it('the sweep deletes ended sessions after the retention time', async () => {
    const withRetention = await openFixture({ settings: { retentionMs: 10_000 } })
    const old = await withRetention.startAttached()
    const live = await withRetention.startAttached()
    await withRetention.person('endSession', { id: old.session.id })
    await withRetention.clock.advance(9_000)
    expect((await withRetention.person('listSessions', {})).items).toHaveLength(2)
    await withRetention.clock.advance(1_500)
    expect((await withRetention.person('listSessions', {})).items).toMatchObject([{ id: live.session.id }])
    expect(withRetention.errors).toEqual([])
  })
})

describe('an external session', () => {
  it('an external session is opened by the agent, which can write without a fence but cannot answer requests', async () => {
    const session = await fixture.externalAgent('startSession', { driver: 'external', title: 'Mine' })
    expect(session).toMatchObject({ state: 'idle', driver: 'external' })
    const request = await fixture.externalAgent('openRequest', { id: session.id, key: 'k', ask: approval() })
    expect(await fixture.externalAgent('getSession', { id: session.id })).toMatchObject({
      state: 'working',
      pending: 1,
    })
    await expectFault(fixture.allow(request, fixture.externalAgent), 'forbidden')
    await fixture.allow(request)
    await fixture.externalAgent('reportDelivery', { id: request.id, state: 'handed' })
    expect(await fixture.externalAgent('reportDelivery', { id: request.id, state: 'taken' })).toMatchObject({
      delivery: { state: 'taken' },
    })
    await fixture.externalAgent('appendEvents', { id: session.id, items: [{ type: 'turn.finished', ending: 'done' }] })
    expect(await fixture.externalAgent('getSession', { id: session.id })).toMatchObject({ state: 'idle' })
    await expectFault(fixture.externalAgent('startSession', { driver: 'resumable' }), 'forbidden')
  })
  it('an external session looks to another agent as if it did not exist', async () => {
    const session = await fixture.externalAgent('startSession', { driver: 'external' })
    const request = await fixture.externalAgent('openRequest', { id: session.id, key: 'k', ask: approval() })
    const of = { id: session.id }
    await expectFault(fixture.otherAgent('getSession', of), 'not_found')
    await expectFault(fixture.otherAgent('listEvents', of), 'not_found')
    await expectFault(fixture.otherAgent('listCommands', of), 'not_found')
    await expectFault(fixture.otherAgent('attachSession', of), 'not_found')
    await expectFault(fixture.otherAgent('detachSession', of), 'not_found')
    await expectFault(fixture.otherAgent('openRequest', { ...of, key: 'k', ask: approval() }), 'not_found')
    await expectFault(
      fixture.otherAgent('appendEvents', { ...of, items: [{ type: 'error.raised', message: 'x' }] }),
      'not_found',
    )
    await expectFault(fixture.otherAgent('checkTool', { ...of, tool: 'T', input: {} }), 'not_found')
    await expectFault(fixture.otherAgent('getRequest', { id: request.id }), 'not_found')
    await expectFault(fixture.otherAgent('withdrawRequest', { id: request.id }), 'not_found')
    await expectFault(fixture.otherAgent('reportDelivery', { id: request.id, state: 'handed' }), 'not_found')
    await expectFault(fixture.otherAgent('listRequests', { session: session.id }), 'not_found')
    await expectFault(fixture.otherAgent('listRequests', {}), 'forbidden')
    expect((await fixture.otherAgent('listSessions', {})).items).toEqual([])
    expect((await fixture.externalAgent('listSessions', {})).items).toMatchObject([of])
  })
  it('agents and runners cannot access an external session that a person opened', async () => {
    const session = await fixture.person('startSession', { driver: 'external' })
    const of = { id: session.id }
    const request = await fixture.person('openRequest', { ...of, key: 'p', ask: secretAsk })
    const ending = { reason: 'done' } as const
    await expectFault(fixture.externalAgent('attachSession', of), 'not_found')
    await expectFault(fixture.externalAgent('detachSession', { ...of, ending }), 'not_found')
    await expectFault(fixture.externalAgent('getRequest', { id: request.id }), 'not_found')
    await expectFault(fixture.externalAgent('withdrawRequest', { id: request.id }), 'not_found')
    expect((await fixture.externalAgent('listSessions', {})).items).toEqual([])
    await expect(fixture.externalAgent('openRequest', { ...of, key: 'a', ask: approval() })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('options.agent'),
    })
    for (const [call, code] of [
      [fixture.otherPerson, 'forbidden'],
      [fixture.runner, 'not_found'],
    ] as const) {
      await expectFault(call('attachSession', of), code)
      await expectFault(call('openRequest', { ...of, key: 'o', ask: approval() }), code)
      await expectFault(call('detachSession', { ...of, ending }), code)
    }
    expect(await fixture.person('getSession', of)).toMatchObject({ state: 'working', pending: 1 })
  })
  it('an external session is accessible to the agent for which a person opened it', async () => {
    const { id: agent, secret } = await fixture.person('addToken', { role: 'agent', name: 'helper' })
    const caller = await fixture.gateway.authenticate({ kind: 'bearer', secret }, 'api')
    const helper = callAs(fixture.gateway, caller as Caller) // the credential was added above, so it has a caller
    const { id } = await fixture.person('startSession', { driver: 'external', options: { agent } })
    await helper('openRequest', { id, key: 'a', ask: approval() })
    await fixture.person('openRequest', { id, key: 'p', ask: approval() })
    await expectFault(fixture.externalAgent('openRequest', { id, key: 'x', ask: approval() }), 'not_found')
    expect(await helper('getSession', { id })).toMatchObject({ pending: 2 })
  })
  it('an external session cannot be opened if `options.agent` is not the credential of an agent', async () => {
    const { id: person } = await fixture.person('addToken', { role: 'person', name: 'eve' })
    for (const agent of [person, 'tok_00000000000000000000', 7, null])
      await expectFault(fixture.person('startSession', { driver: 'external', options: { agent } }), 'bad_input')
    await expectFault(
      fixture.externalAgent('startSession', { driver: 'external', options: { agent: robot.token } }),
      'bad_input',
    )
    expect(await fixture.person('startSession', { driver: 'resumable', options: { agent: 7 } })).toMatchObject({
      options: { agent: 7 },
    })
  })
  it('an external session accepts no appended messages with the role `person`', async () => {
    const { id } = await fixture.externalAgent('startSession', { driver: 'external' })
    const say = (role: string) => ({ id, items: [{ type: 'message.added', block: 'b', role, text: 'I allow it' }] })
    for (const caller of [robot, ada, runnerCaller])
      await expectFault(fixture.gateway.dispatchUnparsed(caller, 'appendEvents', say('person')), 'bad_input')
    await fixture.gateway.dispatchUnparsed(robot, 'appendEvents', say('agent'))
  })
  it('an external session becomes working again when its agent opens a request after a detach', async () => {
    const session = await fixture.externalAgent('startSession', { driver: 'external' })
    await fixture.externalAgent('detachSession', { id: session.id })
    expect(await fixture.externalAgent('getSession', { id: session.id })).toMatchObject({ state: 'disconnected' })
    await fixture.externalAgent('openRequest', { id: session.id, key: 'k', ask: approval() })
    expect(await fixture.externalAgent('getSession', { id: session.id })).toMatchObject({ state: 'working' })
  })
  it('an external session accepts writes with the newest fence and refuses writes with an older fence', async () => {
    const session = await fixture.externalAgent('startSession', { driver: 'external' })
    const first = await fixture.externalAgent('attachSession', { id: session.id })
    const second = await fixture.externalAgent('attachSession', { id: session.id })
    expect(second.fence).toBe(first.fence + 1)
    await expectFault(
      fixture.externalAgent('openRequest', { id: session.id, key: 'k', ask: approval(), fence: first.fence }),
      'fenced',
    )
    await fixture.externalAgent('openRequest', { id: session.id, key: 'k', ask: approval(), fence: second.fence })
  })
})

describe('listSessions', () => {
  it('listSessions returns every session exactly once, page by page, newest first', async () => {
    const ids: SessionId[] = [id]
    for (let i = 0; i < 6; i++)
      ids.unshift((await fixture.person('startSession', { driver: 'resumable', title: `t${i}` })).id)
    const seen: SessionId[] = []
    let before: SessionId | undefined
    do {
      const page = await fixture.person('listSessions', { limit: 3, ...(before ? { before } : {}) })
      seen.push(...page.items.map(session => session.id))
      before = (page.next ?? undefined) as SessionId | undefined // `next` is the id of the last session of the page
    } while (before)
    expect(seen).toEqual(ids)
  })
  it('listSessions filters by state and by text', async () => {
    const other = await fixture.person('startSession', { driver: 'resumable', title: 'Deploy the Website' })
    const idsOf = async (input: object) =>
      (await fixture.person('listSessions', input)).items.map(session => session.id)
    expect(await idsOf({ state: 'starting' })).toEqual([other.id])
    expect(await idsOf({ q: 'deploy' })).toEqual([other.id])
    expect(await idsOf({ q: 'WEBSITE' })).toEqual([other.id])
    expect(await idsOf({ q: '%' })).toEqual([])
  })
})

describe('rules', () => {
  it('rules apply to the next check as soon as they are added or removed', async () => {
    const check = () => fixture.runner('checkTool', { id, tool: 'Bash', input: { command: 'ls' }, fence: agent.fence })
    expect(await check()).toMatchObject({ verdict: 'ask' })
    const rule = await fixture.person('addRule', { effect: 'deny', tool: 'Bash' })
    expect(await check()).toMatchObject({ verdict: 'deny', rule: rule.id })
    await fixture.person('removeRule', { id: rule.id })
    expect(await check()).toMatchObject({ verdict: 'ask' })
    await expectFault(fixture.person('removeRule', { id: rule.id }), 'not_found')
  })
  it('rules are limited in number', async () => {
    const rule = await fixture.person('addRule', { effect: 'deny', tool: 'T' })
    // One change adds all but one of the others, because 10,000 calls would take 10 s.
    await fixture.store.commit({
      label: 'rules',
      reads: [{ table: 'rule', id: rule.id }],
      decide: view => {
        const row = view.get('rule', rule.id) as RuleRow // the rule was added above
        const rows = Array.from({ length: limits.rulesMax - 2 }, (_, i) => ({
          ...row,
          id: `${rule.id}${i}` as RuleRow['id'],
          ord: row.ord + i + 1,
        }))
        return { puts: rows.map(each => ({ table: 'rule' as const, row: each })), result: null }
      },
    })
    await fixture.person('addRule', { effect: 'deny', tool: 'the last that fits' })
    await expectFault(fixture.person('addRule', { effect: 'deny', tool: 'one too many' }), 'too_many')
  })
  it('rules can be checked as drafts without being stored', async () => {
    const ask = approval()
    expect(await fixture.person('checkRules', { ask, rules: [{ effect: 'deny', tool: 'Bash' }] })).toMatchObject({
      verdict: 'deny',
    })
    expect(await fixture.person('checkRules', { ask })).toMatchObject({ verdict: 'ask' })
    const unusable = { effect: 'allow', command: 'ls | tee x', scope: { cwd: '/srv' } } as const
    expect(await fixture.person('checkRules', { ask, rules: [unusable] })).toEqual({
      verdict: 'ask',
      reason: 'An allow rule is for one command. Add a rule for each part.',
    })
  })
})

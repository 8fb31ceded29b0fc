/** Sessions as people handle them, and the commands by which the agent hears of it. */
import { type Command, limits, type SessionId } from '@holdpoint/protocol'
import { verifyChain } from '@holdpoint/store'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Caller, type Change, callAs, type Store } from '../src/index.ts'
import {
  ada,
  approval,
  type Driven,
  GatewayFixture,
  refused,
  rig,
  robot,
  runnerCaller,
  runnerId,
  secretAsk,
} from './gateway-fixture.ts'

let at: GatewayFixture
let driven: Driven
let id: SessionId
beforeEach(async () => {
  at = await rig()
  driven = await at.drive()
  id = driven.session.id
})
const commands = async () => (await at.runner('listCommands', { id })).items
const take = (command: Pick<Command, 'id'>, by = driven) =>
  at.runner('takeCommand', { id: command.id, fence: by.fence })
const finish = (command: Pick<Command, 'id'>, by = driven) =>
  at.runner('finishCommand', { id: command.id, fence: by.fence })

describe('starting', () => {
  it('makes a session that waits for its runner, with its prompt as the first command', async () => {
    const session = await at.person('startSession', { driver: 'steady', prompt: 'Do it\nnow', cwd: '/srv' })
    expect(session).toMatchObject({ state: 'starting', title: 'Do it', cwd: '/srv', pending: 0, runner: null })
    expect((await at.runner('listCommands', { id: session.id })).items).toMatchObject([
      { seq: 1, state: 'waiting', body: { kind: 'message', text: 'Do it\nnow' }, madeBy: 'ada' },
    ])
  })
  it('takes what is attached without a word, and an empty word only then', async () => {
    const dot = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
    const first = async (input: object) => {
      const session = await at.person('startSession', { driver: 'steady', ...input })
      return (await at.runner('listCommands', { id: session.id })).items.map(command => command.body)
    }
    const body = { kind: 'message', text: '', attachments: [dot] }
    expect(await first({ attachments: [dot] })).toEqual([body])
    expect(await first({ attachments: [dot], prompt: '' })).toEqual([body])
    expect(await first({ attachments: [] })).toEqual([])
    expect(await at.person('sendMessage', { id, text: '', attachments: [dot] })).toMatchObject({ body })
    await refused(at.person('sendMessage', { id, text: '' }), 'bad_input')
    await refused(at.person('sendMessage', { id, text: '', attachments: [] }), 'bad_input')
    await refused(at.person('startSession', { driver: 'steady', prompt: '' }), 'bad_input')
  })
  it('is refused where no runner has the driver, or it is not ready', async () => {
    await refused(at.person('startSession', { driver: 'nowhere' }), 'no_runner')
    await at.announce(0, [{ name: 'steady', title: '', capabilities: [], modes: [], ready: false, missing: 'a key' }])
    await expect(at.person('startSession', { driver: 'steady' })).rejects.toMatchObject({
      code: 'no_runner',
      message: expect.stringContaining('a key'),
    })
  })
  it('waits where there is no runner at all yet', async () => {
    await at.person('retireRunner', { id: runnerId() })
    expect(await at.person('startSession', { driver: 'anything' })).toMatchObject({ state: 'starting' })
  })
})

describe('commands', () => {
  it('come in order, are taken once, and are done', async () => {
    for (const text of ['one', 'two', 'three']) await at.person('sendMessage', { id, text })
    await at.person('patchSession', { id, mode: 'plan', title: 'New' })
    expect((await commands()).map(command => command.body.kind)).toEqual(['message', 'message', 'message', 'mode'])
    expect((await commands()).map(command => command.seq)).toEqual([1, 2, 3, 4])
    const [one] = (await commands()) as [Command]
    expect(await take(one)).toMatchObject({ state: 'taken' })
    expect(await take(one)).toMatchObject({ state: 'taken' })
    expect((await at.log()).filter(type => type === 'command.taken')).toHaveLength(1)
    expect(await finish(one)).toMatchObject({ state: 'done', outcome: { ok: true } })
    expect(await finish(one)).toMatchObject({ state: 'done' })
    expect((await at.log()).filter(type => type === 'command.done')).toHaveLength(1)
    expect((await commands()).map(command => command.seq)).toEqual([2, 3, 4])
    expect((await at.runner('listCommands', { id, after: 3 })).items.map(command => command.seq)).toEqual([4])
  })
  it('make a turn: working while a message is carried out, idle when the turn has finished', async () => {
    const command = await at.person('sendMessage', { id, text: 'go' })
    await take(command)
    expect(await at.person('getSession', { id })).toMatchObject({ state: 'working' })
    await driven.say(
      { type: 'message.added', block: 'a', text: 'Done.' },
      { type: 'turn.finished', ending: 'done', cost: 0.5 },
    )
    expect(await at.person('getSession', { id })).toMatchObject({ state: 'idle', lastMessage: 'Done.', cost: 0.5 })
    await driven.say({ type: 'turn.finished', ending: 'done', cost: 0.25 })
    expect(await at.person('getSession', { id })).toMatchObject({ cost: 0.75 })
  })
  it('taken by a predecessor and not finished are listed again', async () => {
    const command = await at.person('sendMessage', { id, text: 'go' })
    await take(command)
    await at.announce()
    const next = await at.attach(id)
    expect(await commands()).toMatchObject([{ id: command.id, state: 'taken' }])
    await refused(finish(command), 'fenced')
    expect(await finish(command, next)).toMatchObject({ state: 'done' })
  })
  it('wake a runner that waits for them', async () => {
    const waiting = at.runner('listCommands', { id, wait: 10_000 })
    await at.clock.pass(100)
    await at.person('sendMessage', { id, text: 'go' })
    expect((await waiting).items).toHaveLength(1)
    const idle = at.runner('listCommands', { id, wait: 10_000, after: 1 })
    await at.clock.pass(10_000)
    expect((await idle).items).toEqual([])
  })
  it('have a limit, and all of them can be reached', async () => {
    for (let i = 0; i < limits.waitingCommandsMax; i++) await at.person('sendMessage', { id, text: `${i}` })
    await refused(at.person('sendMessage', { id, text: 'one more' }), 'too_many')
    await refused(at.person('patchSession', { id, mode: 'plan' }), 'too_many')
    expect(await at.person('patchSession', { id, title: 'a title is no command' })).toMatchObject({ id })
    const page = (await at.runner('listCommands', { id, after: limits.pageMax })).items
    expect(page[0]?.seq).toBe(limits.pageMax + 1)
    await finish((await commands())[0] as Command)
    await at.person('sendMessage', { id, text: 'fits again' })
  })
  it('of an agent elsewhere that has detached bring its session back when it takes them', async () => {
    const session = await at.agent('startSession', { driver: 'external' })
    await at.agent('detachSession', { id: session.id })
    const command = await at.person('sendMessage', { id: session.id, text: 'hi' })
    expect(await at.agent('takeCommand', { id: command.id })).toMatchObject({ state: 'taken' })
    expect(await at.person('getSession', { id: session.id })).toMatchObject({ state: 'working' })
  })
})

describe('an interrupt', () => {
  it('resolves what is pending at once, and what was answered is not delivered', async () => {
    const [pending, answered] = [await driven.ask('a'), await driven.ask('b', approval('b'))]
    await at.allow(answered)
    await at.person('interruptSession', { id })
    expect(await at.person('getRequest', { id: pending.id })).toMatchObject({
      resolution: { by: 'agent', reason: 'interrupted' },
      delivery: { state: 'taken' },
    })
    expect(await at.person('getRequest', { id: answered.id })).toMatchObject({ delivery: { state: 'undeliverable' } })
    await refused(driven.report(answered, 'handed'), 'already_resolved')
    expect((await commands()).map(command => command.body.kind)).toEqual(['interrupt'])
  })
  it('that still waits is not doubled; after a message it is a new one', async () => {
    for (let i = 0; i < 3; i++) await at.person('interruptSession', { id })
    await at.person('sendMessage', { id, text: 'go on' })
    for (let i = 0; i < 3; i++) await at.person('interruptSession', { id })
    expect((await commands()).map(command => command.body.kind)).toEqual(['interrupt', 'message', 'interrupt'])
  })
  it('of everything reaches every session that is busy or asks', async () => {
    const [busy, quiet] = [await at.drive(), await at.drive()]
    await take(await at.person('sendMessage', { id: busy.session.id, text: 'go' }), busy)
    const request = await driven.ask('k')
    expect(await at.person('stopEverything', {})).toEqual({ interrupted: [id, busy.session.id] })
    expect(await at.person('getRequest', { id: request.id })).toMatchObject({ status: 'resolved' })
    expect((await at.runner('listCommands', { id: quiet.session.id })).items).toEqual([])
  })
  it('of everything is a change for each session, and never one for all', async () => {
    const many = await Promise.all(Array.from({ length: 70 }, () => at.agent('startSession', { driver: 'external' })))
    for (const session of many) await at.agent('openRequest', { id: session.id, key: 'k', ask: approval() })
    const sizes: number[] = []
    const commit = at.store.commit.bind(at.store)
    const counted: Store = Object.assign(Object.create(at.store), {
      commit: (change: Change<unknown>) => {
        sizes.push(change.reads.filter(read => read.table === 'session').length)
        return commit(change)
      },
    })
    await at.gateway.close()
    await new GatewayFixture(at.clock, counted).open().then(other => other.person('stopEverything', {}))
    expect(Math.max(...sizes)).toBe(1)
    expect((await at.store.find('request', { where: { status: 'pending' } })).length).toBe(0)
  })
  it('of a session that has ended is refused', async () => {
    await at.person('endSession', { id })
    await refused(at.person('interruptSession', { id }), 'session_ended')
  })
})

describe('an end', () => {
  it('settles requests and commands at once, and tells the runner', async () => {
    const request = await driven.ask('k')
    const command = await at.person('sendMessage', { id, text: 'never mind' })
    const ended = await at.person('endSession', { id })
    expect(ended).toMatchObject({ state: 'ended', pending: 0, ending: { reason: 'stopped' }, endedAt: at.clock.now() })
    expect(await at.person('getRequest', { id: request.id })).toMatchObject({
      resolution: { by: 'agent', reason: 'session_ended' },
    })
    expect((await commands()).map(open => open.body.kind)).toEqual(['end'])
    expect(await at.store.get('command', command.id)).toMatchObject({ state: 'done', outcome: { ok: false } })
    expect(await at.person('endSession', { id })).toEqual(ended)
    await at.runner('detachSession', { id, fence: driven.fence })
    expect(await commands()).toEqual([])
  })
  it('by the agent itself says how', async () => {
    const ended = await at.runner('detachSession', {
      id,
      fence: driven.fence,
      ending: { reason: 'failed', detail: 'oh' },
    })
    expect(ended).toMatchObject({ state: 'ended', ending: { reason: 'failed', detail: 'oh' } })
  })
  it('can still be told what was taken', async () => {
    const request = await driven.ask('k')
    await at.allow(request)
    await driven.report(request, 'handed')
    await at.person('endSession', { id })
    expect(await driven.report(request, 'taken')).toMatchObject({ delivery: { state: 'taken' } })
  })
  it('is undone by a message where the driver can resume, and ends nothing a second time', async () => {
    await at.person('endSession', { id })
    expect((await commands()).map(open => open.body.kind)).toEqual(['end'])
    await at.person('sendMessage', { id, text: 'one more thing' })
    expect(await at.person('getSession', { id })).toMatchObject({ state: 'parked', ending: null, endedAt: null })
    expect((await commands()).map(open => open.body.kind)).toEqual(['message'])
    await refused(driven.ask('k'), 'fenced')
    const again = await at.attach(id)
    expect(again.session.state).toBe('idle')
    await again.ask('k')
  })
  it('is final where the driver cannot resume', async () => {
    const fragile = await at.drive('fragile')
    await at.person('endSession', { id: fragile.session.id })
    await refused(at.person('sendMessage', { id: fragile.session.id, text: 'hello?' }), 'session_ended')
  })
})

describe('deleting', () => {
  it('is for ended sessions, and takes their history; the chain still holds', async () => {
    const request = await driven.ask('k', approval('very secret command'))
    await refused(at.person('deleteSession', { id }), 'session_live')
    await at.person('endSession', { id })
    await at.person('deleteSession', { id })
    await refused(at.person('getSession', { id }), 'not_found')
    await refused(at.person('getRequest', { id: request.id }), 'not_found')
    await refused(driven.say({ type: 'message.added', block: 'b', text: 't' }), 'not_found')
    expect(JSON.stringify(await at.store.events({ after: 0, limit: 1000 }))).not.toContain('very secret command')
    expect(await verifyChain(at.store)).toMatchObject({ ok: true })
  })
  it('comes by itself after a while, where that is set', async () => {
    const kept = await rig({ settings: { retentionMs: 10_000 } })
    const old = await kept.drive()
    const live = await kept.drive()
    await kept.person('endSession', { id: old.session.id })
    await kept.clock.pass(9_000)
    expect((await kept.person('listSessions', {})).items).toHaveLength(2)
    await kept.clock.pass(1_500)
    expect((await kept.person('listSessions', {})).items).toMatchObject([{ id: live.session.id }])
    expect(kept.trouble).toEqual([])
  })
})

describe('a session of an agent that lives elsewhere', () => {
  it('is opened by its credential, asks and says without a fence, and cannot answer', async () => {
    const session = await at.agent('startSession', { driver: 'external', title: 'Mine' })
    expect(session).toMatchObject({ state: 'idle', driver: 'external' })
    const request = await at.agent('openRequest', { id: session.id, key: 'k', ask: approval() })
    expect(await at.agent('getSession', { id: session.id })).toMatchObject({ state: 'working', pending: 1 })
    await refused(at.allow(request, at.agent), 'forbidden')
    await at.allow(request)
    await at.agent('reportDelivery', { id: request.id, state: 'handed' })
    expect(await at.agent('reportDelivery', { id: request.id, state: 'taken' })).toMatchObject({
      delivery: { state: 'taken' },
    })
    await at.agent('appendEvents', { id: session.id, items: [{ type: 'turn.finished', ending: 'done' }] })
    expect(await at.agent('getSession', { id: session.id })).toMatchObject({ state: 'idle' })
    await refused(at.agent('startSession', { driver: 'steady' }), 'forbidden')
  })
  it('does not exist for another agent', async () => {
    const session = await at.agent('startSession', { driver: 'external' })
    const request = await at.agent('openRequest', { id: session.id, key: 'k', ask: approval() })
    const of = { id: session.id }
    await refused(at.strange('getSession', of), 'not_found')
    await refused(at.strange('listEvents', of), 'not_found')
    await refused(at.strange('listCommands', of), 'not_found')
    await refused(at.strange('attachSession', of), 'not_found')
    await refused(at.strange('detachSession', of), 'not_found')
    await refused(at.strange('openRequest', { ...of, key: 'k', ask: approval() }), 'not_found')
    await refused(at.strange('appendEvents', { ...of, items: [{ type: 'error.raised', message: 'x' }] }), 'not_found')
    await refused(at.strange('checkTool', { ...of, tool: 'T', input: {} }), 'not_found')
    await refused(at.strange('getRequest', { id: request.id }), 'not_found')
    await refused(at.strange('withdrawRequest', { id: request.id }), 'not_found')
    await refused(at.strange('reportDelivery', { id: request.id, state: 'handed' }), 'not_found')
    await refused(at.strange('listRequests', { session: session.id }), 'not_found')
    await refused(at.strange('listRequests', {}), 'forbidden')
    expect((await at.strange('listSessions', {})).items).toEqual([])
    expect((await at.agent('listSessions', {})).items).toMatchObject([of])
  })
  it('opened by a person is that person’s, and no agent’s', async () => {
    const session = await at.person('startSession', { driver: 'external' })
    const of = { id: session.id }
    const request = await at.person('openRequest', { ...of, key: 'p', ask: secretAsk })
    const ending = { reason: 'done' } as const
    await refused(at.agent('attachSession', of), 'not_found')
    await refused(at.agent('detachSession', { ...of, ending }), 'not_found')
    await refused(at.agent('getRequest', { id: request.id }), 'not_found')
    await refused(at.agent('withdrawRequest', { id: request.id }), 'not_found')
    expect((await at.agent('listSessions', {})).items).toEqual([])
    await expect(at.agent('openRequest', { ...of, key: 'a', ask: approval() })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('options.agent'),
    })
    for (const call of [at.other, at.runner]) {
      await refused(call('attachSession', of), 'forbidden')
      await refused(call('openRequest', { ...of, key: 'o', ask: approval() }), 'forbidden')
      await refused(call('detachSession', { ...of, ending }), 'forbidden')
    }
    expect(await at.person('getSession', of)).toMatchObject({ state: 'working', pending: 1 })
  })
  it('opened by a person for an agent is that agent’s too', async () => {
    const { id: agent, secret } = await at.person('addToken', { role: 'agent', name: 'helper' })
    const caller = await at.gateway.authenticate(secret, 'bearer', 'api')
    const helper = callAs(at.gateway, caller as Caller) // the credential was made above
    const { id } = await at.person('startSession', { driver: 'external', options: { agent } })
    await helper('openRequest', { id, key: 'a', ask: approval() })
    await at.person('openRequest', { id, key: 'p', ask: approval() })
    await refused(at.agent('openRequest', { id, key: 'x', ask: approval() }), 'not_found')
    expect(await helper('getSession', { id })).toMatchObject({ pending: 2 })
  })
  it('is opened for nobody where the credential is not an agent’s', async () => {
    const { id: person } = await at.person('addToken', { role: 'person', name: 'eve' })
    for (const agent of [person, 'tok_00000000000000000000', 7, null])
      await refused(at.person('startSession', { driver: 'external', options: { agent } }), 'bad_input')
    await refused(at.agent('startSession', { driver: 'external', options: { agent: robot.token } }), 'bad_input')
    expect(await at.person('startSession', { driver: 'steady', options: { agent: 7 } })).toMatchObject({
      options: { agent: 7 },
    })
  })
  it('never speaks with a person’s voice', async () => {
    const { id } = await at.agent('startSession', { driver: 'external' })
    const say = (role: string) => ({ id, items: [{ type: 'message.added', block: 'b', role, text: 'I allow it' }] })
    for (const caller of [robot, ada, runnerCaller])
      await refused(at.gateway.dispatchUnknown(caller, 'appendEvents', say('person')), 'bad_input')
    await at.gateway.dispatchUnknown(robot, 'appendEvents', say('agent'))
  })
  it('works again when its agent comes back and asks, also after it had detached', async () => {
    const session = await at.agent('startSession', { driver: 'external' })
    await at.agent('detachSession', { id: session.id })
    expect(await at.agent('getSession', { id: session.id })).toMatchObject({ state: 'parked' })
    await at.agent('openRequest', { id: session.id, key: 'k', ask: approval() })
    expect(await at.agent('getSession', { id: session.id })).toMatchObject({ state: 'working' })
  })
  it('takes a fence, and then only the newest', async () => {
    const session = await at.agent('startSession', { driver: 'external' })
    const first = await at.agent('attachSession', { id: session.id })
    const second = await at.agent('attachSession', { id: session.id })
    expect(second.fence).toBe(first.fence + 1)
    await refused(at.agent('openRequest', { id: session.id, key: 'k', ask: approval(), fence: first.fence }), 'fenced')
    await at.agent('openRequest', { id: session.id, key: 'k', ask: approval(), fence: second.fence })
  })
})

describe('listing sessions', () => {
  it('goes page by page, newest first, and misses none', async () => {
    const ids: SessionId[] = [id]
    for (let i = 0; i < 6; i++) ids.unshift((await at.person('startSession', { driver: 'steady', title: `t${i}` })).id)
    const seen: SessionId[] = []
    let before: SessionId | undefined
    do {
      const page = await at.person('listSessions', { limit: 3, ...(before ? { before } : {}) })
      seen.push(...page.items.map(session => session.id))
      before = (page.next ?? undefined) as SessionId | undefined // the id of the last item
    } while (before)
    expect(seen).toEqual(ids)
  })
  it('filters by state and by words', async () => {
    const other = await at.person('startSession', { driver: 'steady', title: 'Deploy the Website' })
    const idsOf = async (input: object) => (await at.person('listSessions', input)).items.map(session => session.id)
    expect(await idsOf({ state: 'starting' })).toEqual([other.id])
    expect(await idsOf({ q: 'deploy' })).toEqual([other.id])
    expect(await idsOf({ q: 'WEBSITE' })).toEqual([other.id])
    expect(await idsOf({ q: '%' })).toEqual([])
  })
})

describe('rules', () => {
  it('are seen by the next ask, and by a check, also through another gateway on the same archive', async () => {
    const check = () => at.runner('checkTool', { id, tool: 'Bash', input: { command: 'ls' }, fence: driven.fence })
    expect(await check()).toMatchObject({ verdict: 'ask' })
    const rule = await at.person('addRule', { effect: 'deny', tool: 'Bash' })
    expect(await check()).toMatchObject({ verdict: 'deny', rule: rule.id })
    await at.person('removeRule', { id: rule.id })
    expect(await check()).toMatchObject({ verdict: 'ask' })
    await refused(at.person('removeRule', { id: rule.id }), 'not_found')
  })
  it('have a limit', async () => {
    const add = (i: number) => at.person('addRule', { effect: 'deny', tool: `T${i}` })
    for (let i = 0; i < limits.rulesMax; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => add(i + j)))
    await refused(add(limits.rulesMax), 'too_many')
  })
  it('that are drafts are judged without being kept', async () => {
    const ask = approval()
    expect(await at.person('checkRules', { ask, rules: [{ effect: 'deny', tool: 'Bash' }] })).toMatchObject({
      verdict: 'deny',
    })
    expect(await at.person('checkRules', { ask })).toMatchObject({ verdict: 'ask' })
    await refused(at.person('checkRules', { ask, rules: [{ effect: 'deny', tool: 'X', when: 'y' }] }), 'unsupported')
  })
})

/** Tests what happens when an agent ends its turn and a watcher objects: messages of the gateway, and its requests whether the agent may stop. */
import type { Request } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AttachedAgent, expectFault } from './gateway-fixture.ts'
import { openMemoryFixture, type WatchFixture } from './watch-fixture.ts'

const reminder = { watch: [{ name: 'reminder', on: 'stop', do: { say: 'No test has run.' } }] }
const permission = { watch: [{ name: 'permission', on: 'stop', do: { ask: 'The task is not done.' } }] }

let fixture: WatchFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openMemoryFixture()
})
async function start(file: unknown): Promise<void> {
  await fixture.withFile(file)
  agent = await fixture.agent()
}
const endTurn = (ending: 'done' | 'interrupted' = 'done') => agent.append({ type: 'turn.finished', ending })
const messages = async () => {
  const { items } = await fixture.runner('listCommands', { id: agent.session.id })
  return items.flatMap(({ body, madeBy }) => (body.kind === 'message' ? [`${madeBy}: ${body.text}`] : []))
}
const pending = async (): Promise<Request[]> =>
  (await fixture.person('listRequests', { session: agent.session.id, status: 'pending' })).items
const answer = (request: Request | undefined, label: string) =>
  fixture.person('answerRequest', {
    id: (request as Request).id,
    digest: (request as Request).digest,
    answer: { kind: 'answers', answers: [{ id: 'stop', chosen: [label] }] },
  })
/** Ends turns until the gateway asks people. */
async function untilAsked(): Promise<Request | undefined> {
  for (let i = 0; i < 4; i++) await endTurn()
  return (await pending())[0]
}

describe('an agent that is sent back to work', () => {
  it('an agent that is sent back to work gets a message of the gateway that names the watcher, and no watcher sees this message', async () => {
    await start({
      watch: [...reminder.watch, { name: 'prompts', on: 'prompt', do: { deny: 'Not now.' } }],
    })
    await endTurn()
    expect(await messages()).toEqual(['watcher reminder: No test has run.'])
    const [command] = (await fixture.runner('listCommands', { id: agent.session.id })).items
    expect(command?.madeById).toBeUndefined()
    expect(await fixture.moment(agent, { moment: 'prompt', key: command?.id ?? '' })).toEqual({ say: [] })
  })
  it('an agent is not sent back to work after a turn that was interrupted', async () => {
    await start(reminder)
    await endTurn('interrupted')
    expect(await messages()).toEqual([])
  })
  it('an agent is sent back to work three times in a row, and then people are asked whether it may stop', async () => {
    await start(reminder)
    for (let i = 0; i < 3; i++) await endTurn()
    expect(await messages()).toHaveLength(3)
    expect(await pending()).toEqual([])
    await endTurn()
    expect(await messages()).toHaveLength(3)
    expect(await pending()).toMatchObject([
      {
        key: expect.stringMatching(/^watch:/),
        watcher: { name: 'reminder', text: 'No test has run.' },
        ask: { kind: 'questions', questions: [{ options: [{ label: 'Let it stop' }, { label: 'Send it back' }] }] },
      },
    ])
  })
  it('an agent is sent back to work again after a person’s message, which also withdraws the question whether the agent may stop', async () => {
    await start(reminder)
    const request = await untilAsked()
    await fixture.person('sendMessage', { id: agent.session.id, text: 'go on' })
    expect(await pending()).toEqual([])
    expect((await fixture.person('getRequest', { id: request?.id as Request['id'] })).resolution).toMatchObject({
      by: 'agent',
      reason: 'withdrawn',
    })
    await endTurn()
    expect(await messages()).toHaveLength(5)
  })
  it('an agent whose driver gives it no messages is not sent back to work after an event, but only with the reply to its own report', async () => {
    await fixture.withFile(reminder)
    const { id } = await fixture.person('startSession', { driver: 'external', cwd: '/srv' })
    await fixture.person('appendEvents', { id, items: [{ type: 'turn.finished', ending: 'done' }] })
    expect((await fixture.person('listCommands', { id })).items).toEqual([])
    const report = (key: string) => fixture.person('reportMoment', { id, moment: 'stop', key })
    expect(await report('1')).toMatchObject({ deny: 'No test has run.', watcher: { name: 'reminder' } })
    expect(await report('1')).toMatchObject({ deny: 'No test has run.' })
    for (const key of ['2', '3']) expect((await report(key)).deny).toBeDefined()
    expect((await report('4')).deny).toBeUndefined()
    expect((await report('4')).deny).toBeUndefined()
    const [request] = (await fixture.person('listRequests', { session: id, status: 'pending' })).items
    await answer(request, 'Send it back')
    expect(await fixture.person('reportMoment', { id, moment: 'prompt', key: 'p' })).toEqual({
      say: ['No test has run.'],
    })
  })
  it('an agent that repeats its report of a stop gets the same text again, together with texts that were waiting for it', async () => {
    await fixture.withFile({ watch: [...reminder.watch, { name: 'after', on: 'after', do: { say: 'It is Friday.' } }] })
    const { id } = await fixture.person('startSession', { driver: 'external', cwd: '/srv' })
    const call = { tool: 'Bash', block: 'b', input: { command: 'ls' } }
    const items = [
      { type: 'tool.started', ...call },
      { type: 'tool.finished', block: 'b', ok: true },
    ] as const
    await fixture.person('appendEvents', { id, items: [...items] })
    const report = () => fixture.person('reportMoment', { id, moment: 'stop', key: '1' })
    const first = await report()
    expect(first).toMatchObject({ say: [], deny: 'It is Friday.\n\nNo test has run.' })
    expect(await report()).toEqual(first)
  })
  it('an agent in a terminal of its own is sent back to work again after a new prompt, which also withdraws the question whether the agent may stop', async () => {
    await fixture.withFile(reminder)
    const { id } = await fixture.person('startSession', { driver: 'external', cwd: '/srv' })
    const report = (moment: 'stop' | 'prompt', key: string) => fixture.person('reportMoment', { id, moment, key })
    for (const key of ['1', '2', '3', '4']) await report('stop', key)
    const asked = () => fixture.person('listRequests', { session: id, status: 'pending' })
    expect((await asked()).items).toHaveLength(1)
    await report('prompt', 'p')
    expect((await asked()).items).toEqual([])
    for (const key of ['5', '6']) expect((await report('stop', key)).deny).toBe('No test has run.')
    // A repeated report of the same prompt is not another prompt.
    await report('prompt', 'p')
    expect((await report('stop', '7')).deny).toBe('No test has run.')
    expect((await report('stop', '8')).deny).toBeUndefined()
  })
  it('an agent that has reported the end of its turn itself is not sent back to work a second time', async () => {
    await start(reminder)
    expect(await fixture.moment(agent, { moment: 'stop', key: 't1' })).toMatchObject({ deny: 'No test has run.' })
    await endTurn()
    expect(await messages()).toEqual([])
    await endTurn()
    expect(await messages()).toHaveLength(1)
  })
})

describe('a request of the gateway that asks whether the agent may stop', () => {
  it('a request of the gateway sends the agent back to work if a person says so, and its answer needs no delivery', async () => {
    await start(permission)
    await endTurn()
    const [request] = await pending()
    const answered = await answer(request, 'Send it back')
    expect(answered).toMatchObject({ resolution: { by: 'person' }, delivery: { state: 'taken' } })
    expect(await messages()).toEqual(['watcher permission: The task is not done.'])
    await answer(request, 'Send it back')
    expect(await messages()).toHaveLength(1)
  })
  it('a request of the gateway lets the agent stop if a person says so or declines to decide', async () => {
    await start(permission)
    await endTurn()
    await answer((await pending())[0], 'Let it stop')
    await endTurn()
    const [{ id, digest }] = (await pending()) as [Request]
    await fixture.person('answerRequest', { id, digest, answer: { kind: 'decline' } })
    expect(await messages()).toEqual([])
    expect(await pending()).toEqual([])
  })
  it('a request of the gateway resumes a parked session only if the agent is sent back to work', async () => {
    await start(permission)
    await endTurn()
    const park = () => fixture.runner('detachSession', { id: agent.session.id, fence: agent.fence })
    const isWanted = async () => (await fixture.store.get('session', agent.session.id))?.needsRunner
    await park()
    expect(await isWanted()).toBe(false)
    await answer((await pending())[0], 'Let it stop')
    expect(await isWanted()).toBe(false)
    agent = await fixture.attach(agent.session.id)
    await endTurn()
    await park()
    await answer((await pending())[0], 'Send it back')
    expect(await isWanted()).toBe(true)
  })
  it('a request of the gateway that nobody answers in time lets the agent stop', async () => {
    await fixture.withFile(permission)
    agent = await fixture.agent({ deadlineMs: 1000, onDeadline: 'deny' })
    await endTurn()
    const [request] = (await pending()) as [Request]
    await fixture.clock.advance(2000)
    expect(await fixture.person('getRequest', { id: request.id, wait: 1000 })).toMatchObject({
      resolution: { by: 'deadline' },
      delivery: { state: 'taken' },
    })
    expect(await messages()).toEqual([])
  })
  it('a request of the gateway ends with an interrupt and with the session', async () => {
    await start(permission)
    await endTurn()
    await fixture.person('interruptSession', { id: agent.session.id })
    expect(await pending()).toEqual([])
    await endTurn()
    await fixture.person('endSession', { id: agent.session.id })
    expect(await pending()).toEqual([])
    await fixture.person('deleteSession', { id: agent.session.id })
  })
  it('a request of the gateway is replaced when the agent stops again', async () => {
    await start(permission)
    await endTurn()
    const [first] = await pending()
    await endTurn()
    const open = await pending()
    expect(open).toHaveLength(1)
    expect(open[0]?.id).not.toBe(first?.id)
  })
  it('a request of the gateway cannot be withdrawn by the agent', async () => {
    await start(permission)
    await endTurn()
    const [request] = (await pending()) as [Request]
    await expectFault(fixture.runner('withdrawRequest', { id: request.id, fence: agent.fence }), 'forbidden')
    expect(await pending()).toHaveLength(1)
  })
})

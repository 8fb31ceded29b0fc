/** Tests when watchers are evaluated, that each moment has effects once, and how their verdicts are merged with those of rules. */
import type { Ask } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { approval, expectFault, secretForm } from './gateway-fixture.ts'
import { ManualClock, testStores, type WatchFixture } from './watch-fixture.ts'

const testsFirst = {
  vars: { green: false },
  watch: [
    { name: 'passed', on: 'after', command: 'npm test', when: 'result.ok', do: { set: { green: 'true' } } },
    { name: 'commit', on: 'before', command: 'git commit', when: '!vars.green', do: { deny: 'Run npm test first.' } },
  ],
}
const question: Ask = {
  kind: 'questions',
  questions: [
    {
      id: 'q',
      header: '',
      question: 'Which one?',
      options: [{ label: 'a' }],
      multiSelect: false,
      allowOther: false,
      secret: false,
    },
  ],
}

describe.each(testStores)('watchers on $name', ({ open }) => {
  let fixture: WatchFixture
  let close: () => Promise<void>
  beforeEach(async () => {
    const opened = await open(new ManualClock())
    fixture = opened.fixture
    close = opened.close
  })
  afterEach(async () => {
    await fixture.gateway?.close()
    await close()
  })

  it('a write that takes long counts as a write after the call has finished, even if only events report it', async () => {
    await fixture.withFile({
      vars: { writes: 0 },
      watch: [{ name: 'wrote', on: 'after', action: 'write', do: { set: { writes: 'vars.writes + 1' } } }],
    })
    const agent = await fixture.agent()
    const content = 'x'.repeat(20_000)
    const action = { write: ['/srv/a.txt'] }
    const input = { file_path: '/srv/a.txt', content }
    await agent.append(
      { type: 'tool.started', block: 'w1', tool: 'Write', input, action },
      { type: 'tool.finished', block: 'w1', ok: true },
    )
    expect(await fixture.values(agent.session.id)).toEqual({ writes: 1 })
  })

  it('the verdict about a call does not count for the same input with another action, nor after the call has finished', async () => {
    await fixture.withFile({
      vars: { open: true },
      watch: [
        { name: 'no-writes', on: 'before', action: 'write', do: { deny: 'Read only.' } },
        { name: 'closed', on: 'before', command: 'git push', when: '!vars.open', do: { deny: 'Closed.' } },
        { name: 'close', on: 'after', command: 'git push', do: { set: { open: 'false' } } },
      ],
    })
    const agent = await fixture.agent()
    const call = { id: agent.session.id, fence: agent.fence, key: 'k1', tool: 'T', input: { file_path: '/srv/a' } }
    const check = (action: object) => fixture.runner('checkTool', { ...call, action } as never) // the action is one of the contract
    expect((await check({ read: ['/srv/a'] })).verdict).toBe('ask')
    expect(await check({ write: ['/srv/a'] })).toMatchObject({ verdict: 'deny', reason: 'Read only.' })
    expect((await fixture.check(agent, 'p1', 'git push')).verdict).toBe('ask')
    await agent.append({ type: 'tool.finished', block: 'p1', ok: true })
    expect(await fixture.check(agent, 'p1', 'git push')).toMatchObject({ verdict: 'deny', reason: 'Closed.' })
  })

  it('a tool that is only named like a question of Claude Code is watched as a call', async () => {
    await fixture.withFile({ watch: [{ name: 'no-rm', on: 'before', command: 'rm', do: { deny: 'No.' } }] })
    const agent = await fixture.agent()
    const input = { command: 'rm -rf x' }
    const call = { id: agent.session.id, fence: agent.fence, key: 'q', tool: 'AskUserQuestion', input }
    expect(await fixture.runner('checkTool', call)).toMatchObject({ verdict: 'deny', reason: 'No.' })
  })

  it('the reply to a message does not count for another message with the same key', async () => {
    await fixture.withFile({
      watch: [{ name: 'no-deploy', on: 'prompt', when: "prompt.text.contains('deploy')", do: { deny: 'Not today.' } }],
    })
    const agent = await fixture.agent()
    const report = (text: string) => fixture.moment(agent, { moment: 'prompt', key: 'm1', text })
    expect(await report('hello')).toEqual({ say: [] })
    expect(await report('deploy now')).toMatchObject({ deny: 'Not today.' })
  })

  it('a condition reads the local time, with Monday as day 1 and Sunday as day 7', async () => {
    const days = [1, 2, 3, 4, 5, 6, 7]
    const day = (n: number) => ({
      name: `day-${n}`,
      on: 'before',
      when: `now.weekday == ${n}`,
      do: { deny: `day ${n}` },
    })
    await fixture.withFile({ watch: days.map(day) })
    const monday = new Date(2029, 0, 1, 12).getTime()
    fixture.clock.jump(monday - fixture.clock.now())
    const found: string[] = []
    for (const n of days) {
      found.push((await fixture.check(await fixture.agent(), `c${n}`, 'ls')).reason)
      fixture.clock.jump(24 * 3600_000)
    }
    expect(found).toEqual(days.map(n => `day ${n}`))
  })

  it('a watcher denies a call until a variable is set, which an earlier call sets when it has finished', async () => {
    await fixture.withFile(testsFirst)
    const agent = await fixture.agent()
    const { id } = agent.session
    expect(await fixture.check(agent, 'c1', 'git commit -m a')).toMatchObject({
      verdict: 'deny',
      reason: 'Run npm test first.',
      watcher: { name: 'commit', version: expect.any(Number) },
    })
    await fixture.check(agent, 't1', 'npm test')
    await agent.append({ type: 'tool.finished', block: 't1', ok: false })
    expect(await fixture.values(id)).toEqual({ green: false })
    await fixture.check(agent, 't2', 'npm test')
    await agent.append({ type: 'tool.finished', block: 't2', ok: true })
    expect(await fixture.values(id)).toEqual({ green: true })
    expect(await fixture.check(agent, 'c2', 'git commit -m a')).toMatchObject({ verdict: 'ask' })
    expect(await fixture.firedNames()).toEqual(['commit', 'passed'])
  })

  it('a call that was not checked before it started is known from the event of its start, so a watcher sees the end of the call', async () => {
    await fixture.withFile(testsFirst)
    const agent = await fixture.agent()
    await agent.append({ type: 'tool.started', block: 't', tool: 'Bash', input: { command: 'npm test' } })
    await agent.append({ type: 'tool.finished', block: 't', ok: true })
    expect(await fixture.values(agent.session.id)).toEqual({ green: true })
  })

  it('a call that is checked, asked and reported several times under one key causes effects once', async () => {
    await fixture.withFile({
      vars: { before: 0, after: 0 },
      watch: [
        { name: 'before', on: 'before', do: { set: { before: 'vars.before + 1' }, ask: 'Look first.' } },
        { name: 'after', on: 'after', do: { set: { after: 'vars.after + 1' }, say: 'Done.' } },
      ],
    })
    const agent = await fixture.agent()
    const { id } = agent.session
    const verdict = await fixture.check(agent, 'k', 'ls')
    expect(await fixture.check(agent, 'k', 'ls')).toEqual(verdict)
    const request = await agent.ask('k', approval('ls'))
    expect(request.watcher).toMatchObject({ name: 'before', text: 'Look first.' })
    expect(await agent.ask('k', approval('ls'))).toEqual(request)
    const report = { moment: 'after', key: 'k', result: { ok: true } } as const
    expect(await fixture.moment(agent, report)).toEqual({ say: ['Done.'] })
    expect(await fixture.moment(agent, report)).toEqual({ say: ['Done.'] })
    await agent.append({ type: 'tool.finished', block: 'k', ok: true })
    expect(await fixture.values(id)).toEqual({ before: 1, after: 1 })
    expect(await fixture.firedNames()).toEqual(['before', 'after'])
  })

  it('a call with the key of another call is evaluated again, so that the key of a harmless call allows nothing else', async () => {
    await fixture.withFile(testsFirst)
    const agent = await fixture.agent()
    await fixture.check(agent, 'k', 'ls')
    expect((await fixture.check(agent, 'k', 'git commit')).verdict).toBe('deny')
    expect((await fixture.check(agent, 'k', 'ls')).verdict).toBe('ask')
  })

  it('a question that is checked and then asked causes effects once', async () => {
    await fixture.withFile({
      vars: { asked: 0 },
      watch: [{ name: 'count', on: 'before', action: 'question', do: { set: { asked: 'vars.asked + 1' } } }],
    })
    const agent = await fixture.agent()
    await fixture.check(agent, 'k', '', { tool: 'AskUserQuestion', input: { questions: [] } })
    await agent.ask('k', question)
    expect(await fixture.values(agent.session.id)).toEqual({ asked: 1 })
  })

  it('what a session remembers of its calls and replies stays small, however many calls it makes', async () => {
    await fixture.withFile({ watch: [{ name: 'count', on: 'before', do: { say: 'x'.repeat(2000) } }] })
    const agent = await fixture.agent()
    for (let n = 0; n < 130; n++) await agent.ask(`k${n}`, approval(`echo ${'y'.repeat(500)} ${n}`, { title: 'Echo' }))
    const state = await fixture.store.get('watchstate', agent.session.id)
    expect(state?.calls).toHaveLength(100)
    expect(state?.replies).toHaveLength(100)
    expect(JSON.stringify(state).length).toBeLessThan(128 * 1024)
  })

  it('a check without a key and the request that follows count as one call, and the next check counts as another call', async () => {
    await fixture.withFile({
      vars: { calls: 0 },
      watch: [{ name: 'count', on: 'before', do: { set: { calls: 'vars.calls + 1' } } }],
    })
    const agent = await fixture.agent()
    await fixture.check(agent, undefined, 'ls')
    await agent.ask('k1', approval('ls'))
    expect(await fixture.values(agent.session.id)).toEqual({ calls: 1 })
    await fixture.check(agent, undefined, 'ls')
    expect(await fixture.values(agent.session.id)).toEqual({ calls: 2 })
  })

  it('a denied call without a key is evaluated again when it is repeated', async () => {
    await fixture.withFile(testsFirst)
    const agent = await fixture.agent()
    expect((await fixture.check(agent, undefined, 'git commit')).verdict).toBe('deny')
    await fixture.person('setVariable', { id: agent.session.id, name: 'green', value: true })
    expect((await fixture.check(agent, undefined, 'git commit')).verdict).toBe('ask')
  })

  it('a watcher that asks overrides a rule that allows, even if the rule is added later', async () => {
    await fixture.withFile({
      rules: [{ effect: 'allow', command: 'make', scope: { cwd: '/srv' } }],
      watch: [{ name: 'look', on: 'before', command: 'make', do: { ask: 'Look first.' } }],
    })
    const agent = await fixture.agent()
    expect(await fixture.check(agent, 'k', 'make')).toMatchObject({ verdict: 'ask', reason: 'Look first.' })
    const request = await agent.ask('k', approval('make'))
    expect(request).toMatchObject({ status: 'pending', watcher: { name: 'look', text: 'Look first.' } })
    await fixture.person('addRule', { effect: 'allow', command: 'make', scope: { session: agent.session.id } })
    expect((await fixture.person('getRequest', { id: request.id })).status).toBe('pending')
    await fixture.person('addRule', { effect: 'deny', command: 'make' })
    expect((await fixture.person('getRequest', { id: request.id, wait: 1000 })).resolution?.answer?.kind).toBe('deny')
  })

  it('a rule that denies wins over a watcher that asks, and a watcher that denies wins over a rule that asks or allows', async () => {
    await fixture.withFile({
      rules: [
        { effect: 'deny', command: 'rm' },
        { effect: 'allow', command: 'make', scope: { cwd: '/srv' } },
      ],
      watch: [
        { name: 'asks', on: 'before', command: 'rm', do: { ask: 'Look.' } },
        { name: 'denies', on: 'before', command: 'make', do: { deny: 'Not now.' } },
      ],
    })
    const agent = await fixture.agent()
    const denied = await fixture.check(agent, '1', 'rm a')
    expect(denied).toMatchObject({ verdict: 'deny', rule: expect.any(String) })
    expect(denied.watcher).toBeUndefined()
    expect(await fixture.check(agent, '2', 'make')).toMatchObject({ verdict: 'deny', watcher: { name: 'denies' } })
    expect((await agent.ask('3', approval('make'))).resolution).toMatchObject({
      by: 'rule',
      watcher: { name: 'denies', version: expect.any(Number) },
      answer: { kind: 'deny', reason: 'Not now.' },
    })
  })

  it('questions and forms that a watcher denies are declined with its sentence, and the question tool is denied', async () => {
    await fixture.withFile({
      vars: { quiet: true },
      watch: [
        { name: 'quiet', on: 'before', action: 'question', when: 'vars.quiet', do: { deny: 'Act on the directive.' } },
      ],
    })
    const agent = await fixture.agent()
    const declined = { kind: 'decline', reason: 'Act on the directive.' }
    expect((await agent.ask('1', question)).resolution).toMatchObject({ by: 'rule', answer: declined })
    expect((await agent.ask('2', secretForm)).resolution?.answer).toEqual(declined)
    const ask = { tool: 'AskUserQuestion', input: { questions: [] } }
    expect(await fixture.check(agent, '3', '', ask)).toMatchObject({ verdict: 'deny', reason: 'Act on the directive.' })
    await fixture.person('setVariable', { id: agent.session.id, name: 'quiet', value: false })
    expect((await agent.ask('4', question)).status).toBe('pending')
  })

  it('the moment “start” causes effects once, together with whichever moment comes first', async () => {
    await fixture.withFile({
      vars: { starts: 0 },
      watch: [{ name: 'start', on: 'start', do: { set: { starts: 'vars.starts + 1' }, say: 'Never push.' } }],
    })
    const asks = await fixture.agent()
    await asks.ask('k', approval('ls'))
    // A request cannot carry texts, so the next moment that can gives them.
    expect(await fixture.check(asks, 'l', 'ls')).toMatchObject({ say: ['Never push.'] })
    expect((await fixture.check(asks, 'm', 'ls')).say).toBeUndefined()
    const prompted = await fixture.agent()
    expect(await fixture.moment(prompted, { moment: 'prompt', key: 'p', text: 'hi' })).toEqual({ say: ['Never push.'] })
    const appends = await fixture.agent()
    await appends.append({ type: 'turn.finished', ending: 'done' })
    for (const { session } of [asks, prompted, appends]) expect(await fixture.values(session.id)).toEqual({ starts: 1 })
  })

  it('a watcher refuses a message, and the runner gets the sentence of the watcher', async () => {
    await fixture.withFile({
      watch: [{ name: 'words', on: 'prompt', when: 'prompt.text.contains("secret")', do: { deny: 'No secrets.' } }],
    })
    const agent = await fixture.agent()
    expect(await fixture.moment(agent, { moment: 'prompt', key: '1', text: 'a secret' })).toMatchObject({
      deny: 'No secrets.',
      watcher: { name: 'words' },
    })
    expect(await fixture.moment(agent, { moment: 'prompt', key: '2', text: 'hello' })).toEqual({ say: [] })
  })

  it('a person is asked about the third identical call within ten minutes', async () => {
    await fixture.withFile({ use: ['loop-guard'] })
    const agent = await fixture.agent()
    for (const key of ['1', '2']) expect((await fixture.check(agent, key, 'make')).watcher, key).toBeUndefined()
    expect(await fixture.check(agent, '3', 'make')).toMatchObject({ verdict: 'ask', watcher: {} })
    expect((await fixture.check(agent, '4', 'make all')).watcher).toBeUndefined()
  })
  it('commands that the agent describes in other words or with another time limit count as identical', async () => {
    await fixture.withFile({ use: ['loop-guard'] })
    const agent = await fixture.agent()
    const check = (key: string, more: object) => fixture.check(agent, key, '', { input: { command: 'make', ...more } })
    await check('1', { description: 'Build' })
    await check('2', { description: 'Build again', timeout: 1000 })
    expect(await check('3', { description: 'Try once more' })).toMatchObject({ verdict: 'ask', watcher: {} })
  })

  it('a condition that cannot be evaluated never allows: a watcher that would deny asks, and the log has the problem', async () => {
    await fixture.withFile({
      rules: [{ effect: 'allow', command: 'make', scope: { cwd: '/srv' } }],
      vars: { n: 0 },
      watch: [{ name: 'broken', on: 'before', when: '1 / vars.n == 1', do: { deny: 'No.' } }],
    })
    const agent = await fixture.agent()
    expect(await fixture.check(agent, 'k', 'make')).toMatchObject({ verdict: 'ask', watcher: { name: 'broken' } })
    expect((await fixture.fired())[0]).toMatchObject({ effects: ['ask'], problem: expect.any(String) })
  })

  it('a report that a call has ended must say how the call ended', async () => {
    await fixture.withFile(testsFirst)
    const agent = await fixture.agent()
    await expectFault(fixture.moment(agent, { moment: 'after', key: 'k' }), 'bad_input', /result/)
  })

  it('a request key cannot begin with the prefix of the gateway’s own keys', async () => {
    await fixture.withFile({})
    const agent = await fixture.agent()
    await expectFault(agent.ask('watch:stop:1', approval('ls')), 'bad_input', /use another key/)
  })

  it('deleting a session also deletes what its watchers remember about it', async () => {
    await fixture.withFile(testsFirst)
    const agent = await fixture.agent()
    const { id } = agent.session
    await fixture.check(agent, 'k', 'git commit')
    expect(await fixture.store.get('watchstate', id)).toMatchObject({ started: true })
    await fixture.person('endSession', { id })
    await fixture.person('deleteSession', { id })
    expect(await fixture.store.get('watchstate', id)).toBeUndefined()
  })
})

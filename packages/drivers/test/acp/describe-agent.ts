/** The tests that every agent that speaks the Agent Client Protocol must pass with its driver. */
import type { Request, SessionId } from '@holdpoint/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ask, createSignal, say, shell, waitFor, writeFile } from '../../../../test/agents/model/script.ts'
import type { RunningRunner } from '../runner-fixture.ts'
import { AcpFixture } from './acp-fixture.ts'

export interface AcpExpectations {
  /** Whether the turn goes on after a denial. */
  readonly goesOnAfterDeny: boolean
  /** How the agent asks a question: as questions, as a form, or not at all. */
  readonly questions: 'questions' | 'form' | 'none'
  /** Two modes in which the agent asks, if it has modes. */
  readonly modes?: readonly [string, string]
  /** Whether the conversation can be loaded right after the process was lost. Otherwise the turn fails, and a later message continues the conversation. */
  readonly continuesAtOnce: boolean
}

export function describeAgent(name: string, expected: AcpExpectations): void {
  describe(`${name} over the Agent Client Protocol`, () => {
    let agent: AcpFixture
    let session: SessionId
    let runner: RunningRunner
    let requests = 0
    let turns = 0

    beforeAll(async () => {
      agent = await AcpFixture.create(name)
      runner = agent.startRunner()
      agent.model.script('hello there', say('Hello to you.'))
      session = await agent.start('hello there')
      await agent.waitForTurnEnd()
    })
    afterAll(() => agent.close())
    beforeEach(() => {
      requests = agent.eventsOf('request.opened').length
      turns = agent.eventsOf('turn.finished').length
    })
    const send = (text: string) => agent.asPerson('sendMessage', { id: session, text })
    const nextRequest = (nth = 1) => agent.nthRequest(requests + nth)
    const turnEnd = (nth = 1) => agent.waitForTurnEnd(turns + nth)
    const deliveryOf = async (request: Request) => (await agent.getRequest(request)).delivery.state

    it('the text of the agent is in the log', () => {
      expect(agent.agentTexts().join('')).toContain('Hello to you.')
      expect(agent.eventsOf('turn.finished').at(-1)).toMatchObject({ ending: 'done' })
    })

    it('an allowed command runs, and its request says what it does', async () => {
      agent.model.script('allowed command', shell('echo ran >> allowed.txt', 'call_allowed'), say('It ran.'))
      await send('allowed command')
      const request = await nextRequest()
      expect(request.ask).toMatchObject({
        kind: 'approval',
        title: 'Run: echo ran >> allowed.txt',
        action: { shell: 'echo ran >> allowed.txt', cwd: agent.cwd },
        input: { command: 'echo ran >> allowed.txt' },
        editable: false,
      })
      expect(request.risk?.level).toBe('notable')
      await agent.answer(request, { kind: 'allow' })
      expect(await turnEnd()).toMatchObject({ ending: 'done' })
      expect(agent.readFile('allowed.txt')).toBe('ran\n')
      expect(await deliveryOf(request)).toBe('taken')
      expect(agent.eventsOf('tool.finished').at(-1)).toMatchObject({ ok: true })
    })

    it('a denied command does not run, and the agent reads the reason at the latest with the next message', async () => {
      agent.model.script('denied command', shell('echo ran >> denied.txt', 'call_denied'), say('I stop here.'))
      agent.model.script('say goodbye', say('Goodbye.'))
      await send('denied command')
      const request = await nextRequest()
      await agent.answer(request, { kind: 'deny', reason: 'use printf instead' })
      expect(await turnEnd()).toMatchObject({ ending: expected.goesOnAfterDeny ? 'done' : 'cancelled' })
      await send('say goodbye')
      await turnEnd(2)
      expect(agent.readFile('denied.txt')).toBeNull()
      expect(agent.model.hasRead('was denied: use printf instead')).toBe(true)
      expect(await deliveryOf(request)).toBe('taken')
      expect(agent.eventsOf('tool.finished').at(-1)).toMatchObject({ ok: false })
    })

    it('a file that the agent creates is asked with its content and its path', async () => {
      agent.model.script(
        'create a file',
        writeFile(`${agent.cwd}/new.txt`, 'one\ntwo\n', 'call_write'),
        say('Created.'),
      )
      await send('create a file')
      const request = await nextRequest()
      expect(JSON.stringify(request.ask)).toContain('one\\ntwo')
      expect(request.ask).toMatchObject({ action: { write: [`${agent.cwd}/new.txt`] } })
      await agent.answer(request, { kind: 'allow' })
      await turnEnd()
      expect(agent.readFile('new.txt')).toBe('one\ntwo\n')
    })

    const itIfItAsks = expected.questions === 'none' ? () => {} : it
    itIfItAsks('the agent reads the answer to its question', async () => {
      const question = { header: 'Database', question: 'Which database?', options: ['Postgres', 'Redis'] }
      agent.model.script('ask me something', ask([question], 'call_ask'), say('Thank you.'))
      await send('ask me something')
      const request = await nextRequest()
      expect(request.ask.kind).toBe(expected.questions)
      if (request.ask.kind === 'questions') {
        const [first] = request.ask.questions
        await agent.answer(request, { kind: 'answers', answers: [{ id: first?.id ?? '', chosen: ['Redis'] }] })
      } else if (request.ask.kind === 'form') {
        const [field = ''] = Object.keys(request.ask.schema.properties)
        await agent.answer(request, { kind: 'submit', values: { [field]: 'Redis' } })
      }
      expect(await turnEnd()).toMatchObject({ ending: 'done' })
      expect(agent.model.toolResult('call_ask')).toContain('Redis')
    })

    it('an interrupt while a request waits withdraws the request, and the next message is answered', async () => {
      agent.model.script('wait for me', shell('echo ran >> waited.txt', 'call_waited'))
      agent.model.script('and again', say('Here I am.'))
      await send('wait for me')
      const request = await nextRequest()
      await agent.asPerson('interruptSession', { id: session })
      expect(await turnEnd()).toMatchObject({ ending: 'interrupted' })
      expect((await agent.getRequest(request)).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
      await send('and again')
      expect(await turnEnd(2)).toMatchObject({ ending: 'done' })
      expect(agent.readFile('waited.txt')).toBeNull()
    })

    it('an interrupt while the model writes ends the turn', async () => {
      const signal = createSignal()
      agent.model.script('a long text', [say('I begin '), waitFor(signal.fired), say('and end.')])
      await send('a long text')
      await agent.model.waitForCall(({ marker }) => marker === 'a long text')
      await agent.asPerson('interruptSession', { id: session })
      expect(await turnEnd()).toMatchObject({ ending: 'interrupted' })
      signal.fire()
    })

    const [first = '', second = ''] = expected.modes ?? []
    const itIfItHasModes = expected.modes ? it : () => {}
    itIfItHasModes('a person can change the mode', async () => {
      for (const mode of [second, first]) {
        await agent.asPerson('patchSession', { id: session, mode })
        await expect.poll(async () => (await agent.asPerson('getSession', { id: session })).mode).toBe(mode)
      }
    })

    it('a request that waits while the runner stops stays open, and the next runner tells the agent what was decided', async () => {
      agent.model.script('restart the runner', shell('echo ran >> restarted.txt', 'call_restarted'), say('It ran.'))
      await send('restart the runner')
      const request = await nextRequest()
      await runner.stop()
      expect((await agent.getRequest(request)).status).toBe('pending')
      runner = agent.startRunner()
      await agent.answer(request, { kind: 'deny', reason: 'the runner was new' })
      const end = await turnEnd()
      expect(agent.readFile('restarted.txt')).toBeNull()
      const isTold = agent.model.hasRead('the runner was new')
      expect(isTold || (!expected.continuesAtOnce && end.ending === 'failed')).toBe(true)
    })

    it('after its process was killed while it waits, the agent is told what was decided, and nothing runs unasked', async () => {
      agent.model.script('lose the process', shell('echo ran >> lost.txt', 'call_lost'), say('It ran.'))
      const other = await agent.start('lose the process')
      const request = await nextRequest()
      process.kill(-agent.pidOf(other), 'SIGKILL')
      await expect.poll(async () => (await agent.asPerson('getSession', { id: other })).process?.state).toBe('lost')
      expect((await agent.getRequest(request)).status).toBe('pending')
      await agent.answer(request, { kind: 'deny', reason: 'it was lost' })
      const end = await turnEnd()
      expect((await agent.getRequest(request)).status).toBe('resolved')
      expect(agent.readFile('lost.txt')).toBeNull()
      const isTold = agent.model.hasRead('it was lost')
      expect(isTold || (!expected.continuesAtOnce && end.ending === 'failed')).toBe(true)
    })
  })
}

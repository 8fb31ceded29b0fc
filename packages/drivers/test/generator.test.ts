import { Fault } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type AgentYield,
  all,
  approval,
  cancelTurn,
  choice,
  defineAgent,
  form,
  generatorDriver,
  questions,
  StepFailed,
  say,
  step,
  type Turn,
  text,
} from '../src/index.ts'
import { ManualClock, RunnerFixture } from './runner-fixture.ts'

type Run = (turn: Turn) => AsyncGenerator<AgentYield, void, unknown>
let fixture: RunnerFixture
afterEach(() => fixture.close())

async function play(run: Run, options: Parameters<RunnerFixture['startSession']>[1] = {}) {
  fixture = await RunnerFixture.open()
  fixture.startRunner([generatorDriver(defineAgent({ name: 'a', title: 'A', run }))])
  return fixture.startSession('a', options)
}

describe('turns of generator agents', () => {
  it('a generator agent’s text, request and further text are stored completely and in order', async () => {
    await play(async function* () {
      yield 'one '
      yield say('two')
      const answer = yield* approval('May I?')
      yield answer.allowed ? 'three ' : 'no'
      yield 'four'
    })
    const request = await fixture.waitForRequest('t1.2')
    expect(fixture.agentTexts()).toEqual(['one two'])
    await fixture.answer(request, { kind: 'allow' })
    await fixture.waitForTurnEnd()
    expect(fixture.agentTexts()).toEqual(['one two', 'three four'])
    const order = fixture.events.map(event => event.type).filter(type => /message|request|turn/.test(type))
    expect(order).toEqual([
      'message.added',
      'request.opened',
      'request.resolved',
      'request.handed',
      'request.taken',
      'message.added',
      'turn.finished',
    ])
  })

  it('an ask from a callback does not call next() on the generator while another next() is running', async () => {
    let calls = 0
    let finish = () => {}
    const run: Run = turn => {
      const inner = (async function* (): AsyncGenerator<AgentYield, void, unknown> {
        yield 'before '
        const slow = new Promise<void>(resolve => {
          finish = resolve
        })
        const asked = turn.ask(approval('From a callback?'))
        const [answer] = await Promise.all([asked, slow])
        yield `after ${answer.allowed}`
      })()
      return Object.assign(inner, { next: counted(inner.next.bind(inner)) })
    }
    const counted =
      (next: AsyncGenerator<AgentYield, void, unknown>['next']): typeof next =>
      (...args) => {
        calls++
        return next(...args)
      }
    await play(run)
    const request = await fixture.waitForRequest('t1.a1')
    expect(fixture.agentTexts()).toEqual(['before '])
    expect(calls).toBe(2)
    await fixture.answer(request, { kind: 'allow' })
    await fixture.waitForEvent('request.handed')
    expect(calls).toBe(2)
    finish()
    await fixture.waitForTurnEnd()
    expect(fixture.agentTexts()).toEqual(['before after true'])
    expect(calls).toBe(3)
    expect(fixture.eventsOf('request.taken')).toHaveLength(1)
  })

  it('a generator agent gets the person’s answer to every kind of ask', async () => {
    const got: unknown[] = []
    await play(async function* () {
      got.push(yield* approval('a', { tool: 'Bash', input: { command: 'ls' }, editable: true }))
      got.push(yield* approval('b'))
      got.push(yield* approval('c'))
      got.push(yield* choice('d', ['x', { label: 'y' }]))
      got.push(yield* text('e'))
      got.push(
        yield* questions([
          { question: 'f', options: ['1', '2'], multiSelect: true },
          { question: 'g', allowOther: true },
        ]),
      )
      got.push(yield* form({ title: 'h', schema: { type: 'object', properties: { n: { type: 'number' } } } }))
      got.push(yield* form({ title: 'i', schema: { type: 'object', properties: {} } }))
    })
    const answers = [
      { kind: 'allow', input: { command: 'ls -l' }, note: 'fine', mode: 'plan' },
      { kind: 'deny' },
      { kind: 'deny', reason: 'not today' },
      { kind: 'answers', answers: [{ id: 'choice', chosen: ['y'] }] },
      { kind: 'answers', answers: [{ id: 'text', chosen: [], other: 'words' }] },
      { kind: 'answers', answers: [{ id: 'q1', chosen: ['2', '1'] }] },
      { kind: 'submit', values: { n: 3 } },
      { kind: 'decline' },
    ] as const
    for (const [i, answer] of answers.entries())
      await fixture.answer(await fixture.waitForRequest(`t1.${i + 1}`), structuredClone(answer) as never)
    await fixture.waitForTurnEnd()
    expect(got).toEqual([
      { allowed: true, input: { command: 'ls -l' }, note: 'fine', mode: 'plan' },
      { allowed: false, reason: 'A person declined this.' },
      { allowed: false, reason: 'not today' },
      { index: 1, value: { label: 'y' } },
      'words',
      [{ id: 'q1', chosen: ['2', '1'] }, null],
      { n: 3 },
      null,
    ])
  })

  it('a generator agent reads comments on lines and a question of the person, answers the question in text, and its next ask follows the earlier ask', async () => {
    await play(async function* () {
      const first = yield* approval('Delete it?', { tool: 'Bash', input: { command: 'rm a' } })
      if (!first.allowed) yield `${first.question ?? ''} Because it is old.`
      const second = yield* approval('Delete it?', { tool: 'Bash', input: { command: 'rm a' } })
      if (second.allowed) yield second.note ?? ''
      let asked = ''
      const onReject = (reason: string) => {
        asked = reason
      }
      yield* choice('Which one?', ['a', 'b'], { onReject })
      yield asked
    })
    const first = await fixture.waitForRequest('t1.1')
    await fixture.answer(first, { kind: 'deny', reason: 'Why?', askBack: true })
    const second = await fixture.waitForRequest('t1.3')
    expect(second.follows).toBe(first.id)
    expect(fixture.agentTexts()).toEqual(['Why? Because it is old.'])
    const comments = [{ line: 1, quote: 'rm a', text: 'Only this one.' }]
    await fixture.answer(second, { kind: 'allow', comments })
    await fixture.answer(await fixture.waitForRequest('t1.5'), { kind: 'decline', reason: 'A or b?', askBack: true })
    await fixture.waitForTurnEnd()
    const [, note, question] = fixture.agentTexts()
    expect(note).toContain('Line 1 of the command:\n> rm a\nOnly this one.')
    expect(question).toContain('asks you this first:\n\nA or b?')
  })

  it('asks of two subagents are opened together and can be answered in reverse order', async () => {
    let got: unknown
    await play(async function* () {
      got = yield* all([
        approval('first', { agentPath: ['reviewer'] }),
        approval('second', { agentPath: ['reviewer', 'linter'] }),
        choice('third', ['a', 'b']),
      ])
      yield 'done'
    })
    const requests = await Promise.all(['t1.1', 't1.2', 't1.3'].map(key => fixture.waitForRequest(key)))
    expect(requests.map(request => request.agentPath)).toEqual([['reviewer'], ['reviewer', 'linter'], []])
    await fixture.answer(requests[2]!, { kind: 'answers', answers: [{ id: 'choice', chosen: ['b'] }] })
    await fixture.answer(requests[1]!, { kind: 'deny', reason: 'no' })
    expect(fixture.eventsOf('request.handed')).toEqual([])
    await fixture.answer(requests[0]!, { kind: 'allow' })
    await fixture.waitForTurnEnd()
    expect(got).toEqual([
      { allowed: true, input: { prompt: 'first' } },
      { allowed: false, reason: 'no' },
      { index: 1, value: 'b' },
    ])
    expect(fixture.eventsOf('request.taken')).toHaveLength(3)
  })

  it('if a person denies one of several asks of a generator agent and stops the turn, the other asks are withdrawn', async () => {
    await play(async function* () {
      yield* all([approval('first'), approval('second')])
      yield 'never'
    })
    await fixture.waitForRequest('t1.2')
    await fixture.answer(await fixture.waitForRequest('t1.1'), { kind: 'deny', interrupt: true })
    expect((await fixture.waitForTurnEnd()).ending).toBe('cancelled')
    expect(fixture.eventsOf('request.resolved').map(event => event.resolution.by)).toEqual(['person', 'agent'])
    expect(fixture.agentTexts()).toEqual([])
  })

  it('the next turn of a generator agent gets the conversation so far', async () => {
    const histories: unknown[] = []
    const id = await play(async function* (turn) {
      histories.push(turn.history)
      yield `you said ${turn.text}`
    })
    await fixture.waitForTurnEnd()
    await fixture.asPerson('sendMessage', { id, text: 'again' })
    await fixture.waitForTurnEnd(2)
    expect(histories).toEqual([
      [],
      [
        { role: 'person', text: 'go' },
        { role: 'agent', text: 'you said go' },
      ],
    ])
  })

  it('a generator agent gets “Nobody answered.” when the deadline passes', async () => {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    let got: unknown
    const agent = defineAgent({
      name: 'a',
      title: 'A',
      async *run() {
        got = yield* approval('Anyone?', { deadlineMs: 5000 })
      },
    })
    fixture.startRunner([generatorDriver(agent, { clock })])
    await fixture.startSession('a')
    await fixture.waitForRequest('t1.1')
    await clock.advance(6000)
    await fixture.waitForTurnEnd()
    expect(got).toEqual({ allowed: false, reason: 'Nobody answered.' })
  })

  it('if a generator agent throws, the turn fails with an error event, its text is kept, and the next message is handled', async () => {
    const id = await play(async function* (turn) {
      yield 'partial'
      if (turn.text === 'go') throw new Error('the disk is on fire')
    })
    expect((await fixture.waitForTurnEnd()).ending).toBe('failed')
    expect(fixture.agentTexts()).toEqual(['partial'])
    expect(fixture.eventsOf('error.raised').map(event => event.message)).toEqual(['the disk is on fire'])
    await fixture.asPerson('sendMessage', { id, text: 'again' })
    expect((await fixture.waitForTurnEnd(2)).ending).toBe('done')
  })

  it('a generator agent can cancel its turn after a denial', async () => {
    await play(async function* () {
      yield 'kept'
      const answer = yield* approval('May I?')
      if (!answer.allowed) cancelTurn(answer.reason)
      yield 'never'
    })
    await fixture.answer(await fixture.waitForRequest('t1.2'), { kind: 'deny', reason: 'stop it' })
    expect((await fixture.waitForTurnEnd()).ending).toBe('cancelled')
    expect(fixture.agentTexts()).toEqual(['kept'])
    expect((await fixture.waitForEvent('command.done')).outcome).toEqual({ ok: true, reason: 'stop it' })
  })

  it('an ask with the option `onReject: cancel` ends the turn if nobody answers', async () => {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    const agent = defineAgent({
      name: 'a',
      title: 'A',
      async *run() {
        yield* approval('Anyone?', { deadlineMs: 5000, onReject: 'cancel' })
        yield 'never'
      },
    })
    fixture.startRunner([generatorDriver(agent, { clock })])
    await fixture.startSession('a')
    await fixture.waitForRequest('t1.1')
    await clock.advance(6000)
    expect((await fixture.waitForTurnEnd()).ending).toBe('cancelled')
  })

  it('the log contains the tool events that a generator agent yields, and the failure of a step', async () => {
    await play(async function* () {
      yield { type: 'tool.started', block: 'x', tool: 'Read', input: { path: 'a' } }
      yield { type: 'tool.finished', block: 'x', ok: true, output: 'content' }
      try {
        yield* step('explode', () => {
          throw new Error('boom')
        })
      } catch (error) {
        yield `${error instanceof StepFailed}: ${(error as Error).message}`
      }
    })
    await fixture.waitForTurnEnd()
    expect(fixture.eventsOf('tool.finished').map(event => [event.block, event.ok])).toEqual([
      ['t1:x', true],
      ['t1.1', false],
    ])
    expect(fixture.agentTexts()).toEqual(['true: boom'])
  })
})

describe('an invalid ask', () => {
  const cases: readonly [string, () => Generator<AgentYield, unknown, unknown>, string][] = [
    ['an empty prompt', () => approval(''), 'prompt'],
    ['a prompt that is not a string', () => text(7 as never), 'prompt'],
    ['no choices', () => choice('Which?', undefined as never), 'choices'],
    ['an empty list of choices', () => choice('Which?', []), 'choices'],
    ['two equal labels', () => choice('Which?', ['a', 'a']), 'options'],
    ['an empty list of questions', () => questions([]), 'questions'],
    ['a question that has no options', () => questions([{ question: 'Which?' }]), 'options'],
    ['no form schema', () => form({ title: 'Form' } as never), 'schema'],
    ['an input that is not JSON', () => approval('a', { input: { n: 1n } as never }), 'ask'],
    ['an empty name in the agent path', () => approval('a', { agentPath: [''] }), 'agentPath'],
    ['a deadline below the limit', () => approval('a', { deadlineMs: 1 }), 'deadlineMs'],
    ['an empty list of asks', () => all([]), 'asks'],
    [
      'an unknown ask kind',
      function* () {
        yield { type: 'asks', items: [{ ask: { kind: 'riddle' } as never }] }
      },
      'kind',
    ],
    [
      'an unknown yield type',
      function* () {
        yield { type: 'riddle' } as never
      },
      'type',
    ],
  ]
  it.each(cases)(
    'an invalid ask with %s throws an error that names the field, and opens no request',
    async (_, ask, field) => {
      let fault: unknown
      await play(async function* () {
        try {
          yield* all([approval('fine'), ask() as never])
        } catch (error) {
          fault = error
        }
        try {
          yield* ask()
        } catch (error) {
          fault = error
        }
        yield 'went on'
      })
      await fixture.waitForTurnEnd()
      expect(fault).toBeInstanceOf(Fault)
      expect(fault).toMatchObject({ code: 'bad_input' })
      expect((fault as Fault).message).toContain(field)
      expect(fixture.eventsOf('request.opened')).toEqual([])
      expect(fixture.agentTexts()).toEqual(['went on'])
    },
  )
})

/** Crashes a generator agent at any write and checks that the replay produces the same transcript, runs no step twice and hands no allow twice. */

import type { Answer, Request } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type AgentYield,
  type AskGenerator,
  all,
  approval,
  choice,
  defineAgent,
  form,
  generatorDriver,
  StepUnknown,
  step,
  type Turn,
  text,
} from '../src/index.ts'
import { crashAtWrite, RunnerFixture, type RunningRunner } from './runner-fixture.ts'

let fixture: RunnerFixture | undefined
afterEach(async () => {
  await fixture?.close()
  fixture = undefined
})

type Action = 'say' | 'step' | 'approval' | 'choice' | 'text' | 'together' | 'aside'
const script = fc.array(fc.constantFrom<Action>('say', 'step', 'approval', 'choice', 'text', 'together', 'aside'), {
  minLength: 1,
  maxLength: 6,
})

/** An agent that reports the result of each action, so that the transcript shows which path it took. */
function agentOf(actions: readonly Action[], ran: Map<number, number>) {
  return defineAgent({
    name: 'script',
    title: 'Script',
    async *run(turn: Turn): AsyncGenerator<AgentYield, void, unknown> {
      for (const [i, act] of actions.entries()) yield* perform(act, i, ran, turn)
    },
  })
}
async function* perform(
  act: Action,
  i: number,
  ran: Map<number, number>,
  turn: Turn,
): AsyncGenerator<AgentYield, void, unknown> {
  switch (act) {
    case 'say':
      yield `${i}:said `
      yield 'more;'
      return
    case 'step':
      try {
        const value = yield* step('count', () => {
          ran.set(i, (ran.get(i) ?? 0) + 1)
          return { n: i }
        })
        yield `${i}:ran ${value.n};`
      } catch (error) {
        if (!(error instanceof StepUnknown)) throw error
        yield `${i}:unknown;`
      }
      return
    case 'approval': {
      const answer = yield* approval(`${i}`)
      yield `${i}:${answer.allowed ? 'allowed' : answer.reason.slice(0, 17)};`
      return
    }
    case 'choice':
      yield `${i}:${(yield* choice(`${i}`, ['a', 'b']))?.value};`
      return
    case 'text':
      yield `${i}:${yield* text(`${i}`)};`
      return
    case 'together': {
      const [one, two] = yield* all([approval(`${i}`), choice(`${i}`, ['a', 'b'])])
      yield `${i}:${one.allowed ? 'allowed' : one.reason.slice(0, 17)},${two?.value};`
      return
    }
    case 'aside':
      yield `${i}:beside `
      yield `${(await turn.ask(choice(`${i}`, ['a', 'b'])))?.value};`
  }
}

const unknownStart = 'This was approved'
function answerOf({ ask, key }: Request): Answer {
  if (ask.kind === 'approval') return key.endsWith('3') ? { kind: 'deny', reason: 'no' } : { kind: 'allow' }
  const question = ask.kind === 'questions' ? ask.questions[0] : undefined
  const given = question?.options.length ? { chosen: ['b'] } : { chosen: [], other: 'word' }
  return { kind: 'answers', answers: [{ id: question?.id ?? '', ...given }] }
}

async function performAll(actions: readonly Action[], deaths: readonly { nth: number; when: 'before' | 'after' }[]) {
  const playing = await RunnerFixture.open()
  fixture = playing
  const ran = new Map<number, number>()
  const stopAnswering = playing.answerAll(answerOf)
  const lives = [...deaths]
  const live = (): RunningRunner => {
    const death = lives.shift()
    if (!death) return playing.startRunner([generatorDriver(agentOf(actions, ran))])
    const runner: RunningRunner = playing.startRunner([generatorDriver(agentOf(actions, ran))], {
      call: crashAtWrite(playing.asRunner, death.nth, death.when, () => {
        runner.kill()
        live()
      }),
    })
    return runner
  }
  live()
  await playing.startSession('script', { parkAfterMs: null })
  const { ending } = await playing.waitForTurnEnd()
  stopAnswering()
  return { playing, ran, ending }
}

/** Returns the expected transcript, given which allows and steps have an unknown outcome. */
function expected(actions: readonly Action[], playing: RunnerFixture): string {
  const doubted = new Set(playing.eventsOf('request.unknown').map(event => event.request))
  const opened = playing.eventsOf('request.opened').map(event => event.value)
  const approvalSaid = (i: number) => {
    const request = opened.find(({ ask }) => ask.kind === 'approval' && ask.input.prompt === `${i}`)
    if (!request) throw new Error(`no request of action ${i}`)
    if (answerOf(request).kind === 'deny') return 'no'
    return doubted.has(request.id) ? unknownStart : 'allowed'
  }
  const steps = new Map(playing.eventsOf('tool.finished').map(event => [event.block, event.ok]))
  const stepOks = [...steps.values()]
  return actions
    .map((act, i) => {
      if (act === 'say') return `${i}:said more;`
      if (act === 'step') return stepOks.shift() ? `${i}:ran ${i};` : `${i}:unknown;`
      if (act === 'choice') return `${i}:b;`
      if (act === 'text') return `${i}:word;`
      if (act === 'aside') return `${i}:beside b;`
      return act === 'approval' ? `${i}:${approvalSaid(i)};` : `${i}:${approvalSaid(i)},b;`
    })
    .join('')
}

const deathAt = fc.record({
  nth: fc.integer({ min: 1, max: 24 }),
  when: fc.constantFrom('before' as const, 'after' as const),
})

describe('the replay of a generator agent', () => {
  it('the replay of a generator agent produces the same transcript after a crash at any write, without running a step or handing an allow twice (G5)', () =>
    fc.assert(
      fc.asyncProperty(script, fc.array(deathAt, { minLength: 1, maxLength: 3 }), async (actions, deaths) => {
        const { playing, ran, ending } = await performAll(actions, deaths)
        expect(ending).toBe('done')
        expect(playing.agentTexts().join('')).toBe(expected(actions, playing))
        for (const [, count] of ran) expect(count).toBe(1)
        expect(playing.eventsOf('turn.finished')).toHaveLength(1)
        const allows = new Set(
          playing.eventsOf('request.resolved').flatMap(e => (e.resolution.answer?.kind === 'allow' ? [e.request] : [])),
        )
        const life = new Map<string, string>()
        for (const event of playing.events) {
          if (event.type !== 'request.handed' && event.type !== 'request.taken' && event.type !== 'request.unknown')
            continue
          const before = life.get(event.request) ?? ''
          if (event.type === 'request.handed' && allows.has(event.request)) expect(before).toBe('')
          // The outcome is unknown if and only if the answer was handed and not taken.
          if (event.type === 'request.unknown') expect(before).toBe('request.handed')
          life.set(event.request, event.type)
        }
        for (const [, last] of life) expect(last).not.toBe('request.handed')
        await playing.close()
      }),
      { numRuns: 60 },
    ))

  it('the replay of a generator agent tells the agent that the outcome is unknown if an allow was handed before the crash, and does not allow the call again', async () => {
    const playing = await RunnerFixture.open()
    fixture = playing
    const got: unknown[] = []
    let runs = 0
    const agent = defineAgent({
      name: 'a',
      title: 'A',
      async *run() {
        runs++
        got.push(yield* approval('Launch?'))
        if (runs === 1) await new Promise(() => {})
        yield 'checked'
      },
    })
    const first = playing.startRunner([generatorDriver(agent)])
    await playing.startSession('a')
    await playing.answer(await playing.waitForRequest('t1.1'), { kind: 'allow' })
    await playing.waitForEvent('request.handed')
    await new Promise(resolve => setImmediate(resolve))
    first.kill()
    playing.startRunner([generatorDriver(agent)])
    await playing.waitForTurnEnd()
    expect(got).toEqual([
      { allowed: true, input: { prompt: 'Launch?' } },
      {
        allowed: false,
        reason:
          'This was approved and may have started before a crash; its outcome is unknown. Check before running it again.',
      },
    ])
    expect(playing.eventsOf('request.handed')).toHaveLength(1)
    expect(playing.eventsOf('request.unknown')).toHaveLength(1)
  })

  async function crashAndChange(first: () => AsyncGenerator<AgentYield>, second: () => AsyncGenerator<AgentYield>) {
    const playing = await RunnerFixture.open()
    fixture = playing
    const agentRunning = (run: () => AsyncGenerator<AgentYield>) => [
      generatorDriver(defineAgent({ name: 'a', title: 'A', run })),
    ]
    const before = playing.startRunner(agentRunning(first))
    await playing.startSession('a')
    await playing.waitForRequest('t1.1')
    before.kill()
    const after = playing.startRunner(agentRunning(second))
    // No runner attaches the session while its request is pending. The answer resumes the session.
    await playing.answer(await playing.waitForRequest('t1.1'), { kind: 'allow' })
    const { ending } = await playing.waitForTurnEnd()
    await after.stop()
    return { ending, errors: playing.eventsOf('error.raised').map(event => event.message) }
  }

  it('the replay of a generator agent fails the turn if the agent asks something different at the same position, and explains how to fix the agent', async () => {
    const { ending, errors } = await crashAndChange(
      async function* () {
        yield* approval('Delete 3 files?')
      },
      async function* () {
        yield* approval('Delete 4 files?')
      },
    )
    expect(ending).toBe('failed')
    expect(errors).toEqual([
      'This agent is not deterministic: its ask t1.1 differs from the ask that was recorded at this position. Put side effects and random values into step()',
    ])
  })

  it('the replay of a generator agent fails the turn if the agent yields text at a position where the agent previously asked', async () => {
    const { ending, errors } = await crashAndChange(
      async function* () {
        yield* approval('May I?')
      },
      async function* () {
        yield 'text instead'
      },
    )
    expect(ending).toBe('failed')
    expect(errors[0]).toContain('t1.1 was an ask and is now text')
  })

  const key = { type: 'string', format: 'password' } as const
  const secretAsks: [string, () => AskGenerator<unknown>, Answer][] = [
    [
      'question',
      () => text('The key?', { secret: true }),
      { kind: 'answers', answers: [{ id: 'text', chosen: [], other: 'hunter2' }] },
    ],
    [
      'form',
      () => form({ title: 'The key?', schema: { type: 'object', properties: { key } } }),
      { kind: 'submit', values: { key: 'hunter2' } },
    ],
  ]
  it.each(secretAsks)(
    'the replay of a generator agent fails the turn if the secret answer to a %s is no longer stored',
    async (_, ask, answer) => {
      const playing = await RunnerFixture.open()
      fixture = playing
      const agent = defineAgent({
        name: 'a',
        title: 'A',
        async *run() {
          yield JSON.stringify(yield* ask()).length.toString()
          yield* approval('Use it?')
        },
      })
      const first = playing.startRunner([generatorDriver(agent)])
      await playing.startSession('a')
      await playing.answer(await playing.waitForRequest('t1.1'), answer)
      const second = await playing.waitForRequest('t1.3')
      first.kill()
      playing.startRunner([generatorDriver(agent)])
      await playing.answer(second, { kind: 'allow' })
      expect((await playing.waitForTurnEnd()).ending).toBe('failed')
      expect(playing.eventsOf('error.raised')[0]?.message).toContain('secret')
      expect(JSON.stringify(playing.events)).not.toContain('hunter2')
    },
  )
})

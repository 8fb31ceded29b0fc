/** Checks eight numbered properties of generator agents with random scripts and random answers on a real gateway. */

import { type Answer, answerProblem, Fault, type Request } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AgentYield,
  type AskGenerator,
  all,
  approval,
  choice,
  defineAgent,
  form,
  generatorDriver,
  text,
} from '../src/index.ts'
import { RunnerFixture } from './runner-fixture.ts'

type AskScript =
  | { readonly kind: 'approval'; readonly cancel: boolean }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'text' }
  | { readonly kind: 'form' }
type Action =
  | { readonly do: 'say'; readonly pieces: readonly string[] }
  | { readonly do: 'ask'; readonly ask: AskScript }
  | { readonly do: 'together'; readonly asks: readonly AskScript[] }

const word = fc.stringMatching(/^[a-z]{1,6}$/)
const askScript: fc.Arbitrary<AskScript> = fc.oneof(
  fc.record({ kind: fc.constant('approval' as const), cancel: fc.boolean() }),
  fc.record({ kind: fc.constant('choice' as const), choices: fc.uniqueArray(word, { minLength: 1, maxLength: 4 }) }),
  fc.constant({ kind: 'text' as const }),
  fc.constant({ kind: 'form' as const }),
)
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('say' as const), pieces: fc.array(word, { minLength: 1, maxLength: 3 }) }),
  fc.record({ do: fc.constant('ask' as const), ask: askScript }),
  fc.record({ do: fc.constant('together' as const), asks: fc.array(askScript, { minLength: 1, maxLength: 3 }) }),
)
const script = fc.array(action, { minLength: 1, maxLength: 6 })
/** How a person answers the nth request, and which invalid answers they try first. */
const behaviors = fc.infiniteStream(
  fc.record({
    refuse: fc.boolean(),
    stop: fc.integer({ min: 0, max: 9 }).map(n => n === 0),
    invalidFirst: fc.boolean(),
    pick: fc.nat(),
  }),
)

interface Trace {
  readonly results: { readonly ask: AskScript; readonly result: unknown }[]
  readonly said: string[]
  readonly steps: { readonly at: number; readonly answered: number }[]
}

function asking(ask: AskScript): AskGenerator<unknown> {
  switch (ask.kind) {
    case 'approval':
      return approval('May I?', ask.cancel ? { onReject: 'cancel' } : {})
    case 'choice':
      return choice('Which?', ask.choices)
    case 'text':
      return text('What?')
    case 'form':
      return form({
        title: 'Form',
        schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      })
  }
}

function agentOf(actions: readonly Action[], trace: Trace, answered: () => number) {
  return defineAgent({
    name: 'script',
    title: 'Script',
    async *run(): AsyncGenerator<AgentYield, void, unknown> {
      let asked = 0
      for (const act of actions) {
        trace.steps.push({ at: asked, answered: answered() })
        if (act.do === 'say') {
          for (const piece of act.pieces) {
            trace.said.push(piece)
            yield piece
          }
          continue
        }
        const asks = act.do === 'ask' ? [act.ask] : act.asks
        const result = act.do === 'ask' ? [yield* asking(act.ask)] : yield* all(asks.map(asking))
        asked += asks.length
        for (const [i, ask] of asks.entries()) trace.results.push({ ask, result: (result as unknown[])[i] })
      }
      trace.steps.push({ at: asked, answered: answered() })
    },
  })
}

type PersonBehavior = {
  readonly refuse: boolean
  readonly stop: boolean
  readonly invalidFirst: boolean
  readonly pick: number
}
function answerOf({ ask }: Request, { refuse, stop, pick }: PersonBehavior): Answer {
  const stopping = stop ? { interrupt: true } : {}
  if (ask.kind === 'approval') return refuse ? { kind: 'deny', ...stopping } : { kind: 'allow' }
  if (refuse) return { kind: 'decline', ...stopping }
  if (ask.kind === 'form') return { kind: 'submit', values: { n: pick % 100 } }
  const [question] = ask.questions
  const option = question?.options[pick % Math.max(question.options.length, 1)]
  const given = option ? { chosen: [option.label] } : { chosen: [], other: `word${pick % 7}` }
  return { kind: 'answers', answers: [{ id: question?.id ?? '', ...given }] }
}
function invalidAnswerFor({ ask }: Request): Answer {
  if (ask.kind === 'approval') return { kind: 'submit', values: {} }
  if (ask.kind === 'form') return { kind: 'submit', values: { n: 'no number' } }
  return { kind: 'answers', answers: [{ id: 'nobody', chosen: ['nothing'] }] }
}

/** Runs one script with one list of random answers to the end of its turn. */
async function perform(actions: readonly Action[], people: Iterator<PersonBehavior>) {
  const fixture = await RunnerFixture.open()
  const trace: Trace = { results: [], said: [], steps: [] }
  let answered = 0
  const refusedAnswers: { readonly code: unknown; readonly resolvedBy: string | null }[] = []
  const handled = new Set<string>()
  fixture.startRunner([generatorDriver(agentOf(actions, trace, () => answered))])
  const over = fixture.waitForTurnEnd()
  const answering = (async () => {
    for (;;) {
      const next = await Promise.race([
        over.then(() => null),
        fixture.waitFor(() => fixture.eventsOf('request.opened').find(event => !handled.has(event.value.id))),
      ])
      if (!next) return
      handled.add(next.value.id)
      const behavior: PersonBehavior = people.next().value
      if (behavior.invalidFirst) {
        const wrong = invalidAnswerFor(next.value)
        expect(answerProblem(next.value.ask, wrong)).not.toBeNull()
        const code = await fixture.answer(next.value, wrong).then(
          () => 'accepted',
          (error: unknown) => (error instanceof Fault ? error.code : error),
        )
        const { resolution } = await fixture.asPerson('getRequest', { id: next.value.id })
        refusedAnswers.push({ code, resolvedBy: resolution?.by ?? null })
      }
      answered++
      // A denial that stopped the turn may have withdrawn this request.
      await fixture
        .answer(next.value, answerOf(next.value, behavior))
        .catch(error => expect(error).toMatchObject({ code: 'already_resolved' }))
    }
  })()
  await fixture.startSession('script')
  const { ending } = await over
  await answering
  await fixture.close()
  return { fixture, trace, ending, refusedAnswers }
}

function holds(check: (played: Awaited<ReturnType<typeof perform>>, actions: readonly Action[]) => void, runs = 25) {
  return fc.assert(
    fc.asyncProperty(script, behaviors, async (actions, people) => check(await perform(actions, people), actions)),
    { numRuns: runs },
  )
}

describe('generator agents', () => {
  it('P1: an agent does not continue before the answer has arrived', () =>
    holds(({ trace }) => {
      for (const step of trace.steps) expect(step.answered).toBeGreaterThanOrEqual(step.at)
    }))

  it('P2: every ask is resolved exactly once', () =>
    holds(({ fixture, trace, ending }) => {
      const opened = fixture.eventsOf('request.opened').map(event => event.value.id)
      expect(
        fixture
          .eventsOf('request.resolved')
          .map(event => event.request)
          .toSorted(),
      ).toEqual(opened.toSorted())
      const taken = fixture.eventsOf('request.taken').map(event => event.request)
      expect(new Set(taken).size).toBe(taken.length)
      if (ending === 'done') expect(taken.toSorted()).toEqual(opened.toSorted())
      if (ending === 'done') expect(trace.results).toHaveLength(opened.length)
    }))

  it('P3: the answer to an approval is always allow or deny', () =>
    holds(({ fixture, trace }) => {
      const approvals = new Set(
        fixture
          .eventsOf('request.opened')
          .filter(event => event.value.ask.kind === 'approval')
          .map(event => event.value.id),
      )
      for (const { request, resolution } of fixture.eventsOf('request.resolved'))
        if (approvals.has(request) && resolution.by === 'person')
          expect(['allow', 'deny']).toContain(resolution.answer?.kind)
      for (const { ask, result } of trace.results)
        if (ask.kind === 'approval') expect(typeof (result as { allowed: unknown }).allowed).toBe('boolean')
    }))

  it('P4: the answer to a choice has an index in range and the value of the choice at that index', () =>
    holds(({ trace }) => {
      for (const { ask, result } of trace.results) {
        if (ask.kind !== 'choice' || result === null) continue
        const { index, value } = result as { index: number; value: string }
        expect(index).toBeGreaterThanOrEqual(0)
        expect(index).toBeLessThan(ask.choices.length)
        expect(value).toBe(ask.choices[index])
      }
    }))

  it('P5: denying an ask with the option `onReject: cancel` ends the turn', () =>
    holds(({ fixture, ending }, actions) => {
      const byKey = new Map(fixture.eventsOf('request.opened').map(event => [event.value.id, event.value]))
      const last = fixture.eventsOf('request.resolved').find(({ request, resolution }) => {
        const { answer } = resolution
        if (answer?.kind !== 'deny' && answer?.kind !== 'decline') return false
        return answer.interrupt === true || cancels(byKey.get(request), actions)
      })
      expect(ending).toBe(last ? 'cancelled' : 'done')
      if (!last) return
      const types = fixture.events.slice(fixture.events.indexOf(last)).map(event => event.type)
      expect(types).not.toContain('message.added')
      // Requests that were opened together with the denied request may not have been answered yet.
      const cancelled = actionAt(actions, byKey.get(last.request))
      for (const event of fixture.eventsOf('request.opened'))
        expect(actionAt(actions, event.value)).toBeLessThanOrEqual(cancelled)
    }))

  it('P6: streamed text is stored before an ask is opened', () =>
    holds(({ fixture }, actions) => {
      for (const event of fixture.eventsOf('request.opened')) {
        const before = fixture.events.slice(0, fixture.events.indexOf(event))
        const shown = before.flatMap(earlier => (earlier.type === 'message.added' ? [earlier.text] : [])).join('')
        expect(shown).toBe(saidBefore(actions, Number(event.value.key.split('.')[1])))
      }
    }))

  it('P7: the history stays complete after a denial', () =>
    holds(({ fixture, trace }) => {
      expect(fixture.agentTexts().join('')).toBe(trace.said.join(''))
    }))

  it('P8: an invalid answer is refused, and the request stays pending', () =>
    holds(({ refusedAnswers }) => {
      for (const { code, resolvedBy } of refusedAnswers) {
        // A denial that stops the turn may withdraw this request at any time. Nothing else may resolve it.
        if (resolvedBy === 'agent') continue
        expect(code).toBe('answer_mismatch')
        expect(resolvedBy).toBeNull()
      }
    }))
})

/** Yields the texts and asks of a script in the order in which the driver numbers them. */
function* numberedItems(
  actions: readonly Action[],
): Generator<{ readonly text: string } | { readonly ask: AskScript; readonly action: number }> {
  let run = ''
  for (const [action, act] of actions.entries()) {
    if (act.do === 'say') {
      run += act.pieces.join('')
      continue
    }
    if (run) yield { text: run }
    run = ''
    for (const ask of act.do === 'ask' ? [act.ask] : act.asks) yield { ask, action }
  }
  if (run) yield { text: run }
}
function saidBefore(actions: readonly Action[], number: number): string {
  return [...numberedItems(actions)]
    .slice(0, number - 1)
    .flatMap(at => ('text' in at ? [at.text] : []))
    .join('')
}
function itemOf(actions: readonly Action[], request: Request | undefined) {
  const at = request && [...numberedItems(actions)][Number(request.key.split('.')[1]) - 1]
  return at && 'ask' in at ? at : undefined
}
function actionAt(actions: readonly Action[], request: Request | undefined): number {
  return itemOf(actions, request)?.action ?? -1
}
function cancels(request: Request | undefined, actions: readonly Action[]): boolean {
  const ask = itemOf(actions, request)?.ask
  return ask?.kind === 'approval' && ask.cancel
}

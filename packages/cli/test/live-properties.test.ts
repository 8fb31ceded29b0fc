/** The eight numbered properties of generator agents, with requests that are answered by keys in a terminal. */
import { join } from 'node:path'
import type { Event, Request, Session } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys, type Terminal } from './support/terminal.ts'

interface AskScript {
  readonly kind: 'approval' | 'choice' | 'text' | 'form'
  readonly name: string
  readonly cancel?: boolean
  readonly choices?: readonly string[]
}
interface ScriptStep {
  readonly say?: string
  readonly asks?: readonly AskScript[]
}
interface AnswerChoice {
  readonly refuse: boolean
  readonly stop: boolean
  readonly pressesInvalidKey: boolean
  readonly pick: number
}
interface ScriptRun {
  readonly steps: readonly ScriptStep[]
  readonly log: readonly Event[]
  /** All output of the terminal at the end of the run. */
  readonly shown: string
  /** The status of each request after an invalid key was pressed. */
  readonly statusesAfterInvalidKey: readonly { readonly status: string }[]
}

const asks = fc.array(
  fc.record({
    kind: fc.constantFrom('approval' as const, 'choice' as const, 'text' as const, 'form' as const),
    cancel: fc.boolean(),
    choices: fc.uniqueArray(fc.constantFrom('ash', 'birch', 'cedar', 'elm'), { minLength: 1 }),
  }),
  { minLength: 1, maxLength: 2 },
)
const steps = fc.array(fc.oneof(fc.record({ says: fc.constant(true) }), fc.record({ asks })), {
  minLength: 2,
  maxLength: 4,
})
const answerChoice = fc.record({
  refuse: fc.boolean(),
  stop: fc.integer({ min: 0, max: 7 }).map(n => n === 0),
  pressesInvalidKey: fc.boolean(),
  pick: fc.nat(99),
})
const runCount = 6

let fixture: SessionFixture
let session: Session
let terminal: Terminal
const runs: ScriptRun[] = []

beforeAll(async () => {
  fixture = await SessionFixture.open({ agents: { script: join(import.meta.dirname, 'support/script-agent.mjs') } })
  while (!(await fixture.call('listDrivers', {})).items.some(({ name }) => name === 'script')) {}
  session = await fixture.call('startSession', { driver: 'script', title: 'script', prompt: '[{"say":"ready"}]' })
  terminal = fixture.openRun(session)
  await terminal.waitFor('Enter send')
  for (const [number, generated] of fc.sample(fc.tuple(steps, fc.infiniteStream(answerChoice)), runCount).entries())
    runs.push(await runScript(number, generated))
})
afterAll(async () => {
  closeTerminals()
  await closeGateways()
})

/** Sends the script to the agent and answers its requests until its turn ends. */
async function runScript(
  number: number,
  [shape, answerChoices]: [readonly object[], Iterator<AnswerChoice>],
): Promise<ScriptRun> {
  const script = named(number, shape)
  const before = (await fixture.listEvents(session)).length
  terminal.press(`\u001b[200~${JSON.stringify(script)}\u001b[201~`)
  // The caret is on the next line if the script ends at the edge of the screen.
  await terminal.waitFor(/\](\s*┊ )?▏/)
  terminal.press(keys.enter)
  const statusesAfterInvalidKey: { status: string }[] = []
  for (;;) {
    const log = (await fixture.listEvents(session)).slice(before)
    const asked = pendingIn(log)
    if (asked) await answer(asked, answerChoices.next().value, statusesAfterInvalidKey)
    else if (log.some(event => event.type === 'turn.finished')) break
    else await new Promise(resolve => setTimeout(resolve, 5))
  }
  await terminal.waitFor('Enter send')
  return {
    steps: script,
    log: (await fixture.listEvents(session)).slice(before),
    shown: terminal.all(),
    statusesAfterInvalidKey,
  }
}

/** Gives every message and every request a unique name. */
function named(number: number, shape: readonly object[]): ScriptStep[] {
  return shape.map((step, at) => {
    if (!('asks' in step)) return { say: `said${number}-${at}` }
    const list = step.asks as readonly AskScript[] // the generator above creates lists of asks
    return { asks: list.map((ask, index) => ({ ...ask, name: `ask${number}-${at}-${index}` })) }
  })
}

function pendingIn(log: readonly Event[]): Request | undefined {
  const gone = new Set(log.flatMap(event => (event.type === 'request.resolved' ? [event.request] : [])))
  return log.flatMap(event => (event.type === 'request.opened' && !gone.has(event.value.id) ? [event.value] : []))[0]
}

function nameIn({ ask }: Request): string {
  const text = ask.kind === 'questions' ? ask.questions[0]?.question : ask.title
  return /ask[\d-]+\d/.exec(text ?? '')?.[0] ?? ''
}

async function typeAndPause(text: string): Promise<void> {
  await terminal.type(text)
  await terminal.pause()
}

async function answer(
  request: Request,
  choice: AnswerChoice,
  statusesAfterInvalidKey: { status: string }[],
): Promise<void> {
  const { ask } = request
  const typed = ask.kind === 'form' || (ask.kind === 'questions' && ask.questions[0]?.options.length === 0)
  const live = ask.kind === 'approval' ? '[a] Allow' : typed ? '/decline [reason]' : 'r decline'
  // If a denial cancels the turn, the requests that were opened together with the denied request are withdrawn.
  let gone = false
  const settled = fixture.waitForResolved(request).then(() => {
    gone = true
  })
  await terminal.waitUntil(
    () => gone || (terminal.text().includes(nameIn(request)) && terminal.text().includes(live)),
    live,
  )
  if (gone) return
  if (choice.pressesInvalidKey) {
    const [wrong, hint] =
      ask.kind === 'approval' ? ['z', 'Press a'] : typed ? [keys.enter, /empty|required/] : [keys.enter, 'Choose one']
    terminal.press(String(wrong))
    await terminal.waitFor(hint as string | RegExp) // `hint` is the second item of a pair above
    statusesAfterInvalidKey.push({ status: (await fixture.getRequest(request)).status })
    await terminal.pause()
  }
  if (choice.stop || choice.refuse) {
    const command = choice.stop ? '/stop' : '/decline'
    if (typed) await typeAndPause(command)
    terminal.press(typed ? keys.enter : choice.stop ? 'x' : 'r')
  } else if (ask.kind === 'approval') terminal.press('a')
  else if (ask.kind === 'form') {
    await terminal.type(String(choice.pick))
    terminal.press(keys.enter)
    await terminal.waitFor('[a] Send')
    terminal.press('a')
  } else if (typed) {
    await typeAndPause(`word${choice.pick}`)
    terminal.press(keys.enter)
  } else {
    const number = 1 + (choice.pick % (ask.questions[0]?.options.length ?? 1))
    terminal.press(String(number))
    await terminal.waitFor(`› ${number}  `)
    await terminal.pause()
    terminal.press(keys.enter)
  }
  await settled
}

const opened = ({ log }: ScriptRun) => log.filter(event => event.type === 'request.opened')
const resolved = ({ log }: ScriptRun) => log.filter(event => event.type === 'request.resolved')
const texts = (log: readonly Event[]) =>
  log.flatMap(event => (event.type === 'message.added' && event.role === 'agent' ? [event.text] : [])).join('')
function stepOf({ steps: list }: ScriptRun, name: string): number {
  return list.findIndex(step => step.asks?.some(ask => ask.name === name))
}
function results(run: ScriptRun): { readonly ask: AskScript; readonly result: unknown }[] {
  return [...texts(run.log).matchAll(/@(\{.*\})/g)].map(([, json = '']) => {
    const { name, result } = JSON.parse(json) as { name: string; result: unknown } // the script agent writes objects with these fields
    const ask = run.steps.flatMap(step => step.asks ?? []).find(one => one.name === name)
    return { ask: ask as AskScript, result } // the agent reports only requests of its script
  })
}

describe('the properties of a generator agent answered in a terminal', () => {
  it('P1: the agent does not take its next step before its request is answered', () => {
    for (const run of runs)
      for (const event of opened(run)) {
        const step = stepOf(run, nameIn(event.value))
        const resolvedAt = run.log.findIndex(
          other => other.type === 'request.resolved' && other.request === event.value.id,
        )
        const early = texts(run.log.slice(0, resolvedAt))
        for (const later of run.steps.slice(step + 1)) if (later.say) expect(early).not.toContain(later.say)
      }
  })
  it('P2: every request is resolved exactly once', () => {
    for (const run of runs)
      expect(
        resolved(run)
          .map(event => event.request)
          .toSorted(),
      ).toEqual(
        opened(run)
          .map(event => event.value.id)
          .toSorted(),
      )
  })
  it('P3: the agent gets only "allow" or "deny" as the answer to an approval', () => {
    for (const run of runs) {
      const approvals = new Set(
        opened(run)
          .filter(event => event.value.ask.kind === 'approval')
          .map(event => event.value.id),
      )
      for (const { request, resolution } of resolved(run))
        if (approvals.has(request) && resolution.by === 'person')
          expect(['allow', 'deny']).toContain(resolution.answer?.kind)
      for (const { ask, result } of results(run))
        if (ask.kind === 'approval') expect(result).toMatchObject({ allowed: expect.any(Boolean) })
    }
  })
  it('P4: the agent gets a choice whose index is in range and whose value matches the index', () => {
    for (const run of runs)
      for (const { ask, result } of results(run)) {
        if (ask.kind !== 'choice' || result === null) continue
        const { index, value } = result as { index: number; value: string } // `choice` returns an object with these fields
        expect(ask.choices?.[index]).toBe(value)
      }
  })
  it('P5: the turn ends after a denial that cancels the turn', () => {
    for (const run of runs) {
      const names = new Map(opened(run).map(event => [event.value.id, nameIn(event.value)]))
      const cancelling = resolved(run).find(({ request, resolution: { answer: given } }) => {
        if (given?.kind !== 'deny' && given?.kind !== 'decline') return false
        const ask = run.steps.flatMap(step => step.asks ?? []).find(one => one.name === names.get(request))
        return given.interrupt === true || (ask?.kind === 'approval' && ask.cancel === true)
      })
      const ending = run.log.find(event => event.type === 'turn.finished')?.ending
      expect(ending).toBe(cancelling ? 'cancelled' : 'done')
      if (cancelling) expect(texts(run.log.slice(run.log.indexOf(cancelling)))).toBe('')
    }
  })
  it('P6: the agent’s text is in the log before its request is opened', () => {
    for (const run of runs)
      for (const event of opened(run)) {
        const before = texts(run.log.slice(0, run.log.indexOf(event)))
        for (const step of run.steps.slice(0, stepOf(run, nameIn(event.value))))
          if (step.say) expect(before).toContain(step.say)
      }
  })
  it('P7: the history is kept after a denial, in the log and on the screen', () => {
    for (const run of runs) {
      const reached = Math.max(-1, ...opened(run).map(event => stepOf(run, nameIn(event.value))))
      for (const step of run.steps.slice(0, reached))
        if (step.say) {
          expect(texts(run.log)).toContain(step.say)
          expect(run.shown).toContain(step.say)
        }
    }
  })
  it('P8: a request stays pending after an invalid key', () => {
    for (const run of runs) for (const { status } of run.statusesAfterInvalidKey) expect(status).toBe('pending')
  })
})

/** The eight properties of generator agents, by number, where the person is at a terminal and answers by keys. */
import { join } from 'node:path'
import type { Event, Request, Session } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { Scene } from './support/session-fixture.ts'
import { closeTerminals, keys, type Terminal } from './support/terminal.ts'

interface AskScript {
  readonly kind: 'approval' | 'choice' | 'text' | 'form'
  readonly name: string
  readonly cancel?: boolean
  readonly choices?: readonly string[]
}
interface Act {
  readonly say?: string
  readonly asks?: readonly AskScript[]
}
interface Mood {
  readonly refuse: boolean
  readonly stop: boolean
  readonly nonsense: boolean
  readonly pick: number
}
interface Play {
  readonly acts: readonly Act[]
  readonly log: readonly Event[]
  /** What the terminal shows of it in the end. */
  readonly shown: string
  /** Requests that were still pending behind a key that does not answer. */
  readonly misfits: readonly { readonly status: string }[]
}

const asks = fc.array(
  fc.record({
    kind: fc.constantFrom('approval' as const, 'choice' as const, 'text' as const, 'form' as const),
    cancel: fc.boolean(),
    choices: fc.uniqueArray(fc.constantFrom('ash', 'birch', 'cedar', 'elm'), { minLength: 1 }),
  }),
  { minLength: 1, maxLength: 2 },
)
const acts = fc.array(fc.oneof(fc.record({ says: fc.constant(true) }), fc.record({ asks })), {
  minLength: 2,
  maxLength: 4,
})
const mood = fc.record({
  refuse: fc.boolean(),
  stop: fc.integer({ min: 0, max: 7 }).map(n => n === 0),
  nonsense: fc.boolean(),
  pick: fc.nat(99),
})
const playsMax = 6

let scene: Scene
let session: Session
let terminal: Terminal
const plays: Play[] = []

beforeAll(async () => {
  scene = await Scene.open({ agents: { script: join(import.meta.dirname, 'support/script-agent.mjs') } })
  while (!(await scene.call('listDrivers', {})).items.some(({ name }) => name === 'script')) {}
  session = await scene.call('startSession', { driver: 'script', title: 'script', prompt: '[{"say":"ready"}]' })
  terminal = scene.run(session)
  await terminal.sees('Enter says it')
  for (const [number, drawn] of fc.sample(fc.tuple(acts, fc.infiniteStream(mood)), playsMax).entries())
    plays.push(await perform(number, drawn))
}, 240_000)
afterAll(async () => {
  closeTerminals()
  await closeGateways()
})

/** Says the script to the agent, and answers whatever it asks, until its turn is over. */
async function perform(number: number, [shape, moods]: [readonly object[], Iterator<Mood>]): Promise<Play> {
  const script = named(number, shape)
  const before = (await scene.log(session)).length
  terminal.press(`\u001b[200~${JSON.stringify(script)}\u001b[201~`)
  await terminal.sees(/▏/)
  terminal.press(keys.enter)
  const misfits: { status: string }[] = []
  for (;;) {
    const log = (await scene.log(session)).slice(before)
    const asked = pendingIn(log)
    if (asked) await answer(asked, moods.next().value, misfits)
    else if (log.some(event => event.type === 'turn.finished')) break
    else await new Promise(resolve => setTimeout(resolve, 5))
  }
  await terminal.sees('Enter says it')
  return { acts: script, log: (await scene.log(session)).slice(before), shown: terminal.all(), misfits }
}

/** Every word and every ask has a name of its own, by which it is found again. */
function named(number: number, shape: readonly object[]): Act[] {
  return shape.map((act, at) => {
    if (!('asks' in act)) return { say: `said${number}-${at}` }
    const list = act.asks as readonly AskScript[] // as drawn above
    return { asks: list.map((ask, index) => ({ ...ask, name: `ask${number}-${at}-${index}` })) }
  })
}

function pendingIn(log: readonly Event[]): Request | undefined {
  const gone = new Set(log.flatMap(event => (event.type === 'request.resolved' ? [event.request] : [])))
  return log.flatMap(event => (event.type === 'request.opened' && !gone.has(event.value.id) ? [event.value] : []))[0]
}

function nameIn({ ask }: Request): string {
  const words = ask.kind === 'questions' ? ask.questions[0]?.question : ask.title
  return /ask[\d-]+\d/.exec(words ?? '')?.[0] ?? ''
}

async function answer(request: Request, mood: Mood, misfits: { status: string }[]): Promise<void> {
  const { ask } = request
  const typed = ask.kind === 'form' || (ask.kind === 'questions' && ask.questions[0]?.options.length === 0)
  const live = ask.kind === 'approval' ? '[a] Allow' : typed ? '/reject rejects' : 'r rejects'
  // What was asked together with one that cancelled is withdrawn.
  let gone = false
  const settled = scene.resolved(request).then(() => {
    gone = true
  })
  await terminal.until(
    () => gone || (terminal.text().includes(nameIn(request)) && terminal.text().includes(live)),
    live,
  )
  if (gone) return
  if (mood.nonsense) {
    const [wrong, hint] =
      ask.kind === 'approval' ? ['z', 'Press a'] : typed ? [keys.enter, /none|required/] : [keys.enter, 'Choose one']
    terminal.press(String(wrong))
    await terminal.sees(hint as string | RegExp) // one of the above
    misfits.push({ status: (await scene.now(request)).status })
  }
  if (mood.stop || mood.refuse) {
    const words = mood.stop ? '/stop' : '/reject'
    if (typed) await terminal.type(words)
    terminal.press(typed ? keys.enter : mood.stop ? 'x' : 'r')
  } else if (ask.kind === 'approval') terminal.press('a')
  else if (ask.kind === 'form') {
    await terminal.type(String(mood.pick))
    terminal.press(keys.enter)
    await terminal.sees('[a] Send')
    terminal.press('a')
  } else if (typed) {
    await terminal.type(`word${mood.pick}`)
    terminal.press(keys.enter)
  } else {
    const number = 1 + (mood.pick % (ask.questions[0]?.options.length ?? 1))
    terminal.press(String(number))
    await terminal.sees(`› ${number}  `)
    terminal.press(keys.enter)
  }
  await settled
}

const opened = ({ log }: Play) => log.filter(event => event.type === 'request.opened')
const resolved = ({ log }: Play) => log.filter(event => event.type === 'request.resolved')
const texts = (log: readonly Event[]) =>
  log.flatMap(event => (event.type === 'message.added' && event.role === 'agent' ? [event.text] : [])).join('')
function actOf({ acts: list }: Play, name: string): number {
  return list.findIndex(act => act.asks?.some(ask => ask.name === name))
}
function results(play: Play): { readonly ask: AskScript; readonly result: unknown }[] {
  return [...texts(play.log).matchAll(/@(\{.*\})/g)].map(([, json = '']) => {
    const { name, result } = JSON.parse(json) as { name: string; result: unknown } // as the agent spells it
    const ask = play.acts.flatMap(act => act.asks ?? []).find(one => one.name === name)
    return { ask: ask as AskScript, result } // it only names what it was given
  })
}

describe('agents that ask at a terminal', () => {
  it('P1 the next step of the agent is not taken before the answer is there', () => {
    for (const play of plays)
      for (const event of opened(play)) {
        const act = actOf(play, nameIn(event.value))
        const settled = play.log.findIndex(
          other => other.type === 'request.resolved' && other.request === event.value.id,
        )
        const early = texts(play.log.slice(0, settled))
        for (const later of play.acts.slice(act + 1)) if (later.say) expect(early).not.toContain(later.say)
      }
  })
  it('P2 every ask is settled exactly once', () => {
    for (const play of plays)
      expect(
        resolved(play)
          .map(event => event.request)
          .toSorted(),
      ).toEqual(
        opened(play)
          .map(event => event.value.id)
          .toSorted(),
      )
  })
  it('P3 an approval is answered allow or deny, nothing else', () => {
    for (const play of plays) {
      const approvals = new Set(
        opened(play)
          .filter(event => event.value.ask.kind === 'approval')
          .map(event => event.value.id),
      )
      for (const { request, resolution } of resolved(play))
        if (approvals.has(request) && resolution.by === 'person')
          expect(['allow', 'deny']).toContain(resolution.answer?.kind)
      for (const { ask, result } of results(play))
        if (ask.kind === 'approval') expect(result).toMatchObject({ allowed: expect.any(Boolean) })
    }
  })
  it('P4 the index of a choice lies in range and its value is that choice', () => {
    for (const play of plays)
      for (const { ask, result } of results(play)) {
        if (ask.kind !== 'choice' || result === null) continue
        const { index, value } = result as { index: number; value: string } // what `choice` promises
        expect(ask.choices?.[index]).toBe(value)
      }
  })
  it('P5 a rejection that cancels ends the stream', () => {
    for (const play of plays) {
      const names = new Map(opened(play).map(event => [event.value.id, nameIn(event.value)]))
      const cancelling = resolved(play).find(({ request, resolution: { answer: said } }) => {
        if (said?.kind !== 'deny' && said?.kind !== 'decline') return false
        const ask = play.acts.flatMap(act => act.asks ?? []).find(one => one.name === names.get(request))
        return said.interrupt === true || (ask?.kind === 'approval' && ask.cancel === true)
      })
      const ending = play.log.find(event => event.type === 'turn.finished')?.ending
      expect(ending).toBe(cancelling ? 'cancelled' : 'done')
      if (cancelling) expect(texts(play.log.slice(play.log.indexOf(cancelling)))).toBe('')
    }
  })
  it('P6 live text is flushed before an ask is shown', () => {
    for (const play of plays)
      for (const event of opened(play)) {
        const before = texts(play.log.slice(0, play.log.indexOf(event)))
        for (const act of play.acts.slice(0, actOf(play, nameIn(event.value))))
          if (act.say) expect(before).toContain(act.say)
      }
  })
  it('P7 history survives a rejection, in the log and on the screen', () => {
    for (const play of plays) {
      const reached = Math.max(-1, ...opened(play).map(event => actOf(play, nameIn(event.value))))
      for (const act of play.acts.slice(0, reached))
        if (act.say) {
          expect(texts(play.log)).toContain(act.say)
          expect(play.shown).toContain(act.say)
        }
    }
  })
  it('P8 what does not fit leaves the request pending', () => {
    for (const play of plays) for (const { status } of play.misfits) expect(status).toBe('pending')
  })
})

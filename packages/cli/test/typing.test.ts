/** G12 in the terminal: a text that a person types for something else decides nothing, at any typing speed. The clock is fake; keys, prompts and inbox are real. */
import type { Ask } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { TypingHarness, type View } from './support/typing-harness.ts'

/** `npm run typing` checks 10,000 texts. */
const textCount = 1000 * Number(process.env.HOLDPOINT_ROUNDS ?? 0.3)

beforeAll(() => {
  vi.useFakeTimers()
})
afterAll(() => {
  vi.useRealTimers()
})

const approval = { kind: 'approval', tool: 'Bash', title: 'Clean', cwd: '/srv', editable: true } as const
const command = (more: object): Ask => ({ ...approval, input: { command: 'rm -rf build' }, ...more })
const question = { id: 'q', header: '', question: 'Which?', multiSelect: false, allowOther: true, secret: false }
const options = ['Red', 'Green', 'Blue'].map(label => ({ label }))
const questions = (...more: object[]): Ask => ({
  kind: 'questions',
  questions: more.map((one, n) => ({ ...question, id: `q${n}`, options, ...one })),
})
const form = (properties: object): Ask =>
  ({ kind: 'form', title: 'Parcel', message: '', schema: { type: 'object', properties } }) as Ask // the callers pass fields of a form
const suggestions = [1, 2].map(n => ({ id: `s${n}`, label: `Offer ${n}`, scope: 'session' }))
const asks: Readonly<Record<string, Ask>> = {
  command: command({}),
  'command that can be remembered': command({ suggestions }),
  'dangerous command': command({ suggestions, caution: { defaultToNo: true } }),
  'long command': command({ input: { command: 'echo\n'.repeat(60) } }),
  plan: command({ tool: 'ExitPlanMode', input: { plan: 'p' }, plan: 'p' }),
  choice: questions({}),
  'multiple choice': questions({ multiSelect: true }),
  'text question': questions({ options: [] }),
  'several questions': questions({ options: [] }, {}, { options: [] }),
  form: form({ to: { type: 'string' }, gift: { type: 'boolean' } }),
  'form of choices': form({ gift: { type: 'boolean' }, tone: { type: 'string', enum: ['warm', 'plain'] } }),
  'form without fields': form({}),
}

/** Words that begin with keys that decide, and strings of nothing but such keys. */
const word = fc.oneof(
  fc.constantFrom(
    'a',
    'are',
    'rather',
    'x',
    'run',
    'Really?',
    'no',
    'now',
    'nearby',
    'edit',
    'so',
    'see',
    'on',
    'ok',
    'do',
    'denied',
  ),
  fc.constantFrom('I', '1', '2', '12', '3rd', 'yes', 'bear', 'sabre', 'allow', 'deny', 'you', 'what', 'the', 'q', '?'),
  fc.string({ unit: fc.constantFrom(...'aar1rr2xRnesobyE I'), minLength: 1, maxLength: 8 }),
)
const line = fc.array(word, { minLength: 1, maxLength: 4 }).map(words => words.join(' '))
/** Texts have at least two keys, because a single key cannot be distinguished from a decision. */
const text = fc
  .array(line, { minLength: 1, maxLength: 2 })
  .map(lines => lines.join('\r'))
  .filter(({ length }) => length > 1)

interface Chunk {
  readonly bytes: string
  /** The time since the chunk before. */
  readonly gapMs: number
}
const gapMs = fc.integer({ min: 30, max: 600 })
/** A text as keys. Some keys are corrected, repeated, split between reads, or are not letters. */
const typing = fc
  .tuple(text, fc.boolean(), fc.infiniteStream(fc.tuple(gapMs, fc.nat(99))))
  .map(([typed, endsWithEnter, stream]): readonly Chunk[] =>
    [...typed, ...(endsWithEnter ? ['\r'] : [])].flatMap(char => {
      const [gap, luck] = stream.next().value as [number, number] // an infinite stream
      const extra = extraChunks(luck)
      // Bytes that are not part of a key must not lengthen the pause between two keys.
      return extra.concat({ bytes: char, gapMs: extra.length > 0 ? Math.min(gap, 200) : gap })
    }),
  )
function extraChunks(luck: number): Chunk[] {
  const [arrow, escapeKey] = ['\u001b[B', '\u001b']
  if (luck === 0) return Array.from({ length: 5 }, (_, n) => ({ bytes: 'a', gapMs: n === 0 ? 500 : 30 }))
  if (luck === 1) return [{ bytes: '\u007f', gapMs: 100 }]
  if (luck === 2) return [{ bytes: arrow, gapMs: 100 }]
  if (luck === 3) return [{ bytes: escapeKey, gapMs: 100 }].concat({ bytes: '[A', gapMs: 10 })
  if (luck === 4) return [{ bytes: '\u001b[Maar', gapMs: 200 }]
  if (luck === 5) return [{ bytes: '\u001b[200~a\rr\r\u001b[201~', gapMs: 200 }]
  if (luck === 6) return [{ bytes: 'a\rallow\rr', gapMs: 200 }].concat({ bytes: '\r', gapMs: 5 })
  return []
}

interface Scenario {
  readonly view: View
  readonly isWorking: boolean
  readonly chunks: readonly Chunk[]
  /** When requests appear: a number of chunks, or the milliseconds before the first key. */
  readonly asked: readonly { readonly ask: string; readonly place: number; readonly earlierMs: number }[]
}
const scenario: fc.Arbitrary<Scenario> = fc.record({
  view: fc.constantFrom<View>('run', 'run', 'tui session', 'tui list', 'tui message'),
  isWorking: fc.boolean(),
  chunks: typing,
  asked: fc.array(
    fc.record({
      ask: fc.constantFrom(...Object.keys(asks)),
      place: fc.double({ min: 0, max: 1, noNaN: true }),
      earlierMs: fc.integer({ min: 0, max: 3000 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})

async function play({ view, isWorking, chunks, asked }: Scenario): Promise<TypingHarness> {
  const harness = await TypingHarness.open(view, isWorking ? 'working' : 'idle')
  const due = asked.map(one => ({ ...one, at: Math.floor(one.place * (chunks.length + 1)) }))
  for (const one of due.filter(({ at }) => at === 0)) {
    await harness.ask(asks[one.ask] as Ask) // the generator takes the names from `asks`
    await harness.wait(one.earlierMs)
  }
  for (const [index, { bytes, gapMs: gap }] of chunks.entries()) {
    const now = due.filter(({ at }) => at === index + 1)
    await harness.wait(now.length > 0 ? Math.floor(gap / 2) : gap)
    for (const one of now) await harness.ask(asks[one.ask] as Ask) // the generator takes the names from `asks`
    if (now.length > 0) await harness.wait(Math.ceil(gap / 2))
    harness.press(bytes)
  }
  await harness.wait(5000)
  return harness
}

describe('text typed in the terminal while requests appear', () => {
  it('text typed in the terminal while requests appear answers no request, opens no field of an approval and no editor, and is sent only by Enter in the message line', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async one => {
        const harness = await play(one)
        const messages = harness.sent.filter(({ op }) => op === 'sendMessage')
        const enters = one.chunks.filter(({ bytes }) => bytes === '\r').length
        try {
          expect(harness.sent.filter(({ op }) => op !== 'sendMessage')).toEqual([])
          expect(messages.length).toBeLessThanOrEqual(one.view === 'tui list' ? 0 : enters)
          expect(harness.editorCount).toBe(0)
          expect(harness.screen).not.toMatch(/Reason ›|Note ›|Allow ›|Draft reason|With your note/)
        } finally {
          harness.close()
        }
      }),
      { numRuns: textCount },
    )
  }, 600_000)

  it.each([
    ['I', 'interruptSession'],
    ['E', 'endSession'],
  ])(
    'in a session of tui, the key %s twice calls %s only after a pause, and never at the beginning of typed text',
    async (key, op) => {
      const harness = await TypingHarness.open('tui session', 'working')
      for (const gapMs of [30, 525, 600]) {
        harness.press(key)
        await harness.wait(gapMs)
      }
      harness.press('s')
      await harness.wait(2000)
      expect(harness.sent).toEqual([])
      harness.press(key)
      await harness.wait(700)
      harness.press(key)
      await harness.wait(10)
      expect(harness.sent).toMatchObject([{ op }])
      harness.close()
    },
  )

  it.each<[View, string]>([
    ['run', 'a'],
    ['run', 'x'],
    ['tui session', 'r'],
  ])('in %s, the key %s alone answers the request', async (view, key) => {
    const harness = await TypingHarness.open(view, 'working')
    await harness.ask(command({}))
    await harness.wait(300)
    harness.press(key)
    await harness.wait(700)
    await harness.wait(10)
    expect(harness.sent).toMatchObject([{ op: 'answerRequest' }])
    harness.close()
  })
})

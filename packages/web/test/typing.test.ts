/** G12 on the page: a text that a person types for something else decides nothing, at any typing speed. The clock is fake; test/page/typing.test.ts types in a real browser. */
import { letterPauseMs, typingPauseMs } from '@holdpoint/client'
import type { Ask } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { cooldownMs } from '../src/ui/input-cooldown.ts'
import { type Focus, type Screen, TypingPage } from './support/typing-page.ts'

/** `npm run typing` checks ten times as many texts. */
const textCount = 1000 * Number(process.env.HOLDPOINT_ROUNDS ?? 1)

beforeAll(() => {
  vi.useFakeTimers()
})
afterAll(() => {
  vi.useRealTimers()
})

const approval: Ask = { kind: 'approval', tool: 'Bash', title: 'Clean', input: {}, cwd: '/srv', editable: true }
const dangerous: Ask = { ...approval, caution: { defaultToNo: true } }
const question: Ask = {
  kind: 'questions',
  questions: [
    { id: 'q', header: '', question: 'Which?', options: [], multiSelect: false, allowOther: true, secret: false },
  ],
}

/** Words that begin with keys that decide, and strings of nothing but such keys. */
const word = fc.oneof(
  fc.constantFrom('a', 'are', 'data', 'ja', 'deny', 'do', 'edit', 'i', 'I', 'x', 'add', 'dad', 'the', 'now', 'allow'),
  fc.constantFrom('1', '12', '3rd', 'yes', 'jar', 'kick', 'g', 'git', '/etc', 'why?', 'e.g.', 'ok', 'is', 'aside'),
  fc.string({ unit: fc.constantFrom(...'aaadddeeiixjk12 .?/gXn'), minLength: 1, maxLength: 8 }),
)
const line = fc.array(word, { minLength: 1, maxLength: 4 }).map(words => words.join(' '))
/** Texts do not begin with a space and have at least two keys, because a single key cannot be distinguished from a decision. */
const text = fc
  .array(line, { minLength: 1, maxLength: 2 })
  .map(lines => lines.join('\n').trimStart())
  .filter(({ length }) => length > 1)

interface TypedKey {
  readonly key: string
  readonly gapMs: number
  readonly repeat?: boolean
}
const gapMs = fc.integer({ min: 30, max: 600 })
/** A text as keys. Some keys are corrected, held down, or move the focus. */
const typing = fc
  .tuple(text, fc.boolean(), fc.infiniteStream(fc.tuple(gapMs, fc.nat(99))))
  .map(([typed, endsWithEnter, stream]): readonly TypedKey[] =>
    [...typed, ...(endsWithEnter ? ['\n'] : [])].flatMap(char => {
      const [gap, luck] = stream.next().value as [number, number] // an infinite stream
      const extra = extraKeys(luck)
      // Keys that are not part of the text must not lengthen the pause between two letters.
      return extra.concat({ key: char === '\n' ? 'Enter' : char, gapMs: extra.length > 0 ? Math.min(gap, 200) : gap })
    }),
  )
function extraKeys(luck: number): TypedKey[] {
  if (luck === 0)
    return Array.from({ length: 5 }, (_, n) => ({ key: 'a', gapMs: n === 0 ? 200 : n === 1 ? 500 : 30, repeat: n > 0 }))
  if (luck === 1) return [{ key: 'Backspace', gapMs: 100 }]
  if (luck === 2) return [{ key: 'Shift', gapMs: 100 }]
  if (luck === 3) return [{ key: 'Tab', gapMs: 100 }]
  if (luck === 4) return [{ key: 'ArrowLeft', gapMs: 100 }]
  return []
}

interface Scenario {
  readonly screen: Screen
  readonly focus: Focus
  readonly keys: readonly TypedKey[]
  /** The positions in the text, as a share of its length, before which requests appear. */
  readonly asked: readonly { readonly ask: Ask; readonly place: number; readonly earlierMs: number }[]
  /** The position at which somebody else answers the active request. */
  readonly answered: number
}
const scenario: fc.Arbitrary<Scenario> = fc.record({
  screen: fc.constantFrom<Screen>('inbox', 'session', 'batch'),
  focus: fc.constantFrom<Focus>('page', 'page', 'allow button', 'message', 'search'),
  keys: typing,
  asked: fc.array(
    fc.record({
      ask: fc.constantFrom(approval, approval, dangerous, question),
      place: fc.double({ min: 0, max: 1, noNaN: true }),
      earlierMs: fc.integer({ min: 0, max: 3000 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  answered: fc.double({ min: 0, max: 4, noNaN: true }),
})

function play({ screen, focus, keys, asked, answered }: Scenario): TypingPage {
  const page = new TypingPage(screen)
  const due = asked.map(one => ({ ...one, at: Math.floor(one.place * (keys.length + 1)) }))
  for (const one of due.filter(({ at }) => at === 0)) {
    page.ask(one.ask)
    page.wait(one.earlierMs)
  }
  page.activate()
  page.focusOn(focus)
  page.wait(3000)
  const answeredAt = Math.floor(answered * keys.length)
  for (const [index, { key, gapMs: gap, repeat }] of keys.entries()) {
    page.wait(Math.floor(gap / 2))
    for (const one of due.filter(({ at }) => at === index + 1)) page.ask(one.ask)
    if (index === answeredAt && index > 0) page.answerElsewhere()
    page.wait(Math.ceil(gap / 2))
    page.press(key, repeat)
  }
  page.wait(5000)
  return page
}

describe('text typed on the page while requests appear', () => {
  it('text typed on the page while requests appear answers no request, for any text at 30 to 600 ms per key', () => {
    fc.assert(
      fc.property(scenario, one => {
        expect(play(one).decided).toEqual([])
      }),
      { numRuns: textCount },
    )
  })
})

describe('a key that answers a request', () => {
  function openPage(screen: Screen = 'inbox'): TypingPage {
    const page = new TypingPage(screen)
    page.ask(approval)
    page.ask(approval)
    page.activate()
    page.wait(cooldownMs)
    return page
  }

  it('a key that answers a request takes effect if no other key is pressed shortly before or after', () => {
    const page = openPage()
    page.press('a')
    page.wait(letterPauseMs - 1)
    expect(page.decided).toEqual([])
    page.wait(1)
    expect(page.decided).toEqual(['allow req_1'])
  })
  it('a key that answers a request is ignored for one second after a key that is not a shortcut', () => {
    const page = openPage()
    page.press('h')
    page.wait(typingPauseMs - 1)
    page.press('a')
    page.wait(5000)
    expect(page.decided).toEqual([])
    page.press('a')
    page.wait(letterPauseMs)
    expect(page.decided).toEqual(['allow req_1'])
  })
  it('a key that answers a request works again sooner after a key that is a shortcut', () => {
    const page = openPage()
    page.press('j')
    page.wait(letterPauseMs)
    page.press('a')
    page.wait(letterPauseMs)
    expect(page.decided).toEqual(['allow req_1'])
  })
  it('a key that answers a request is dropped if another key follows, and the page says so', () => {
    const page = openPage()
    page.press('a')
    page.wait(600)
    page.press('j')
    page.wait(5000)
    expect(page.decided).toEqual([])
    expect(page.toasts).toEqual(['Nothing was sent, because another key followed.'])
  })
  it('a key that answers a request is dropped if its request is answered elsewhere in the meantime, and does not answer the next request', () => {
    const page = openPage()
    page.press('a')
    page.wait(300)
    page.answerElsewhere()
    page.wait(5000)
    expect(page.decided).toEqual([])
    expect(page.toasts).toEqual(['Nothing was sent, because the request just changed. Press again to confirm.'])
  })
  it('a key that answers a request is carried out even if another request appears in the meantime', () => {
    const page = openPage()
    page.press('a')
    page.wait(300)
    page.ask(approval)
    page.wait(letterPauseMs)
    expect(page.decided).toEqual(['allow req_1'])
  })
  it('a key that answers a request is ignored right after the list has changed', () => {
    const page = openPage()
    page.ask(approval)
    page.press('a')
    page.wait(5000)
    expect(page.decided).toEqual([])
  })
})

describe('Enter in the reason field', () => {
  it('Enter in the reason field denies if the person typed the reason after a pause', () => {
    const page = new TypingPage('inbox')
    page.ask(approval)
    page.activate()
    page.wait(cooldownMs)
    page.press('d')
    expect(page.focus).toBe('reason')
    page.wait(typingPauseMs)
    for (const key of [...'no', 'Enter']) page.press(key)
    expect(page.decided).toEqual(['deny req_1'])
  })
  it('Enter in the reason field denies nothing if the key that opened the field was the first letter of the typed text', () => {
    const page = new TypingPage('inbox')
    page.ask(approval)
    page.activate()
    page.wait(cooldownMs)
    for (const key of [...'do it', 'Enter', 'Enter']) {
      page.press(key)
      page.wait(200)
    }
    expect(page.decided).toEqual([])
    page.wait(typingPauseMs)
    page.press('Enter')
    expect(page.decided).toEqual(['deny req_1'])
  })
})

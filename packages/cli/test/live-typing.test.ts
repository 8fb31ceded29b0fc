/** G12 in a real pseudo-terminal: texts that a person types while requests appear answer no request. `typing.test.ts` checks many more texts with a fake clock. */
import type { Ask, Request } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { approvalOf } from './support/run-fixture.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys, type Terminal } from './support/terminal.ts'

afterAll(async () => {
  closeTerminals()
  await closeGateways()
})

/** `npm run typing` checks ten times as many texts. */
const textCount = 8 * Number(process.env.HOLDPOINT_ROUNDS ?? 1)

const question = { id: 'q', header: '', question: 'Which?', multiSelect: false, allowOther: true, secret: false }
const asks: readonly (() => Ask)[] = [
  approvalOf,
  () => approvalOf({ caution: { defaultToNo: true } }),
  () => ({ kind: 'questions', questions: [{ ...question, options: [{ label: 'Red' }, { label: 'Green' }] }] }),
  () => ({ kind: 'questions', questions: [{ ...question, options: [] }] }),
  () => ({
    kind: 'form',
    title: 'Parcel',
    message: '',
    schema: { type: 'object', properties: { to: { type: 'string' } } },
  }),
]
const texts = [
  'what are you',
  'area 12',
  'Really? no',
  'no x ray',
  'rarer a a',
  'see the ear',
  '2 are on',
  'bears eat',
  'ok 1',
  'ra',
  'do it, done',
]

interface TypedText {
  readonly text: string
  readonly gapsMs: readonly number[]
  readonly ask: Ask
  /** The number of keys before the request appears; 0 if it is on the screen before the text begins. */
  readonly askedAfter: number
}
const typedText = fc
  .record({
    text: fc.constantFrom(...texts),
    gapsMs: fc.array(fc.integer({ min: 30, max: 600 }), { minLength: 12, maxLength: 12 }),
    ask: fc.constantFrom(...asks).map(ask => ask()),
    place: fc.nat(99),
  })
  .map(({ text, gapsMs, ask, place }): TypedText => ({ text, gapsMs, ask, askedAfter: place % text.length }))

/** A busy machine can delay a key so much that it no longer belongs to a text. */
const gapMaxMs = 660

/** Types the text, and opens the request while typing. `wasInTime` is false if the machine was too busy to type at this speed. */
async function typeWhileAsking(
  terminal: Terminal,
  ask: () => Promise<Request>,
  { text, gapsMs, askedAfter }: TypedText,
): Promise<{ readonly request: Request; readonly wasInTime: boolean }> {
  let request = askedAfter === 0 ? ask() : null
  if (request) {
    await terminal.waitFor('● ')
    await terminal.pause()
  }
  let longestMs = 0
  let pressedAt = performance.now()
  for (const [index, char] of [...text].entries()) {
    if (index > 0) {
      await new Promise(resolve => setTimeout(resolve, gapsMs[index]))
      longestMs = Math.max(longestMs, performance.now() - pressedAt)
    }
    pressedAt = performance.now()
    terminal.press(char)
    if (index + 1 === askedAfter) request = ask()
  }
  await terminal.pause()
  return { request: await (request ?? ask()), wasInTime: longestMs <= gapMaxMs }
}

async function check(view: 'run' | 'tui', samples: readonly TypedText[]): Promise<void> {
  const fixture = await SessionFixture.open()
  const session = await fixture.startSession('typing')
  await fixture.sayAsAgent(session, 'Let me see.')
  const terminal = view === 'run' ? fixture.openRun(session) : fixture.openTerminal(['tui'])
  if (view === 'tui') {
    await terminal.waitFor('typing')
    terminal.press(keys.enter)
  }
  await terminal.waitFor('Let me see.')
  for (const sample of samples) {
    for (let isChecked = false; !isChecked; ) {
      const ask = () => fixture.ask(session, sample.ask)
      const { request, wasInTime } = await typeWhileAsking(terminal, ask, sample)
      const { status } = await fixture.getRequest(request)
      if (wasInTime) expect(status, JSON.stringify(sample)).toBe('pending')
      isChecked = wasInTime
      if (status === 'pending') await fixture.call('withdrawRequest', { id: request.id })
      terminal.press('\u0015')
      await terminal.waitUntil(() => !/● /.test(terminal.text()), 'the end of the request')
      await terminal.pause()
    }
  }
  const sent = (await fixture.listEvents(session)).filter(({ type }) => type === 'command.added')
  expect(sent, 'no message and no interrupt').toEqual([])
}

describe('text typed in a real terminal while requests appear', () => {
  it(`${textCount} texts typed in holdpoint run and holdpoint tui answer no request`, async () => {
    const samples = fc.sample(typedText, textCount)
    const views = ['run', 'run', 'tui', 'tui'] as const
    const share = textCount / views.length
    await Promise.all(views.map((view, n) => check(view, samples.slice(n * share, (n + 1) * share))))
  }, 3_000_000)
})

/** Misleading text from agents in the live views: invisible characters are escaped, and no control sequence reaches the terminal. */
import { readFileSync } from 'node:fs'
import { displayText } from '@holdpoint/client'
import type { Ask } from '@holdpoint/protocol'
import { hasInvisible } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys, type Terminal } from './support/terminal.ts'

const file = new URL('../../protocol/test/data/display.json', import.meta.url)
// Leave out the text with a lone surrogate, which a JSON body cannot carry.
const texts = (JSON.parse(readFileSync(file, 'utf8')) as readonly { name: string; text: string }[]).filter(({ text }) =>
  text.isWellFormed(),
)

/** The control sequences that the live views write: cursor movement, erasing, styles, terminal modes, the title of the window. */
const own =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences start with a control character
  /\u001b\[(?:\?(?:25|1049|2004|2026)[hl]|[012]?[JK]|\d*A|\d+;1H|H|[\d;]*m|2[23];2t)|\u001b\]2;(?:\(\d+\) )?Holdpoint\u0007/g
const unseen = /[^\P{C}\n]|[\p{Zl}\p{Zp}\p{DI}\u2800]|(?![ \n])\p{Zs}/u

/** Without our own bell, a bell could only come from an agent. */
const noBell = { HOLDPOINT_BELL: 'off' }

function expectClean(terminal: Terminal): void {
  expect(unseen.exec(terminal.raw.replace(own, '').replace(/\r+\n|\r/g, '\n'))?.[0]).toBeUndefined()
  for (const { name, text } of texts)
    if (hasInvisible(text)) expect([name, terminal.raw.includes(text)]).toEqual([name, false])
}

/** Returns an approval with the text in every field, shortened for fields with a length limit. */
function askWith(whole: string): Ask {
  const text = whole.slice(0, 150)
  const caution = { reason: whole, blockedPath: whole }
  return {
    kind: 'approval',
    tool: text,
    input: { command: whole, [text]: whole },
    // A title that only repeats the command would be left out.
    title: `About ${text}`,
    description: whole,
    cwd: whole,
    editable: true,
    caution,
  }
}
const every: Ask[] = [
  {
    kind: 'questions',
    questions: texts.slice(0, 16).map(({ text }, index) => ({
      id: `q${index}`,
      header: text.slice(0, 150),
      question: text,
      options: [{ label: `${text.slice(0, 150)} `, description: text, preview: text }],
      multiSelect: false,
      allowOther: true,
      secret: false,
    })),
  },
  {
    kind: 'form',
    title: texts[0]?.text ?? '',
    message: texts.map(({ text }) => text).join('\n'),
    schema: {
      type: 'object',
      properties: Object.fromEntries(
        texts.map(({ text }, index) => [
          `${text.slice(0, 100)}${index}`,
          { type: 'string' as const, title: text.slice(0, 150), description: text, default: text },
        ]),
      ),
    },
  },
]

let fixture: SessionFixture
beforeAll(async () => {
  fixture = await SessionFixture.open()
})
afterAll(async () => {
  closeTerminals()
  await closeGateways()
})

describe('misleading text from an agent', () => {
  it('misleading text from an agent is escaped in the messages, tool calls, requests and answers of holdpoint run', async () => {
    const session = await fixture.startSession()
    const terminal = fixture.openRun(session, { columns: 160, rows: 50, env: noBell })
    for (const { name, text } of texts) {
      await fixture.sayAsAgent(session, text)
      const items = [
        { type: 'tool.started' as const, block: name, tool: text.slice(0, 150), input: { command: text } },
        { type: 'tool.finished' as const, block: name, ok: false, output: text },
        { type: 'error.raised' as const, message: text },
      ]
      await fixture.call('appendEvents', { id: session.id, items })
      const request = await fixture.ask(session, askWith(text), [text.slice(0, 100)])
      await terminal.waitFor(`Agent says  About ${displayText(text.slice(0, 150)).slice(0, 20)}`.trimEnd())
      if (hasInvisible(text, { multiline: true }) && text.length < 100)
        expect(terminal.text()).toContain(`│ ${displayText(text)}`.trimEnd())
      // Answer through the API, which has no cooldown.
      const answer = { kind: 'deny' as const, reason: text }
      await fixture.call('answerRequest', { id: request.id, digest: request.digest, answer })
      await terminal.waitForGone('Agent says')
    }
    expectClean(terminal)
  })

  it('misleading text from an agent is escaped in the options of a question and the fields of a form', async () => {
    const session = await fixture.startSession()
    const terminal = fixture.openRun(session, { columns: 160, rows: 50, env: noBell })
    const [questions, form] = [await fixture.ask(session, every[0] as Ask), await fixture.ask(session, every[1] as Ask)]
    await terminal.waitFor('r decline')
    for (let at = 1; at <= 16; at++) {
      await terminal.waitFor(`Question ${at} of 16`)
      terminal.press('1')
      await terminal.waitFor('› 1  ')
      // The last Enter sends the answers, so it is ignored right after a typed key.
      if (at === 16) await terminal.pause()
      terminal.press(keys.enter)
    }
    expect((await fixture.waitForResolved(questions)).resolution?.answer?.kind).toBe('answers')
    for (let at = 1; at <= texts.length; at++) {
      await terminal.waitFor(`${at} of ${texts.length} ·`)
      if (at === 1) await terminal.waitFor('Enter next')
      terminal.press(keys.enter)
    }
    await terminal.waitFor('[a] Send')
    await terminal.pause()
    terminal.press('a')
    expect((await fixture.waitForResolved(form)).resolution?.answer?.kind).toBe('submit')
    expectClean(terminal)
  })

  it('misleading text from an agent is escaped in the list, the preview and the open session of holdpoint tui', async () => {
    for (const { text } of texts) {
      const session = await fixture.startSession(text.slice(0, 200))
      await fixture.sayAsAgent(session, text)
      await fixture.ask(session, askWith(text))
    }
    const terminal = fixture.openTerminal(['tui'], { columns: 120, rows: 40, env: noBell })
    await terminal.waitFor(`${texts.length} waiting for you`)
    await terminal.waitFor('› ')
    for (let at = 0; at < texts.length; at++) {
      const before = terminal.raw.length
      terminal.press(keys.enter)
      await terminal.waitFor('Esc back')
      terminal.press(keys.escape)
      await terminal.waitFor('q leave')
      terminal.press(keys.down)
      if (at + 1 < texts.length) await terminal.waitUntil(() => terminal.raw.length > before)
    }
    expect(terminal.text()).toContain('Holdpoint')
    expectClean(terminal)
  })
})

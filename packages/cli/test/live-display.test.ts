/** Texts made to mislead whoever reads them, through the live views: what cannot be seen is spelt out, and nothing of it is obeyed. */
import { readFileSync } from 'node:fs'
import { displayText } from '@holdpoint/client'
import type { Ask } from '@holdpoint/protocol'
import { hasInvisible } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { Scene } from './support/session-fixture.ts'
import { closeTerminals, keys, type Terminal } from './support/terminal.ts'

const file = new URL('../../protocol/test/data/display.json', import.meta.url)
// One of them holds a lone surrogate, which no JSON body may carry.
const texts = (JSON.parse(readFileSync(file, 'utf8')) as readonly { name: string; text: string }[]).filter(({ text }) =>
  text.isWellFormed(),
)

/** What we send to the terminal ourselves: where things stand, how they look, modes of the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what we send begins with one
const own = /\u001b\[(?:\?(?:25|1049|2004|2026)[hl]|[012]?[JK]|\d*A|\d+;1H|H|[\d;]*m)/g
const unseen = /[^\P{C}\n]|[\p{Zl}\p{Zp}\p{DI}\u2800]|(?![ \n])\p{Zs}/u

function expectClean(terminal: Terminal): void {
  expect(unseen.exec(terminal.raw.replace(own, '').replace(/\r+\n|\r/g, '\n'))?.[0]).toBeUndefined()
  for (const { name, text } of texts)
    if (hasInvisible(text)) expect([name, terminal.raw.includes(text)]).toEqual([name, false])
}

/** The text everywhere an agent can put it; where names are short, as much of it as there is room for. */
function askWith(whole: string): Ask {
  const text = whole.slice(0, 150)
  const caution = { reason: whole, blockedPath: whole }
  return {
    kind: 'approval',
    tool: text,
    input: { command: whole, [text]: whole },
    title: text,
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

let scene: Scene
beforeAll(async () => {
  scene = await Scene.open()
})
afterAll(async () => {
  closeTerminals()
  await closeGateways()
})

describe('texts made to mislead', () => {
  it('are shown and not obeyed by run: said, done, asked, answered', async () => {
    const session = await scene.session()
    const terminal = scene.run(session, { columns: 160, rows: 50 })
    for (const { name, text } of texts) {
      await scene.says(session, text)
      const items = [
        { type: 'tool.started' as const, block: name, tool: text.slice(0, 150), input: { command: text } },
        { type: 'tool.finished' as const, block: name, ok: false, output: text },
        { type: 'error.raised' as const, message: text },
      ]
      await scene.call('appendEvents', { id: session.id, items })
      const request = await scene.ask(session, askWith(text), [text.slice(0, 100)])
      await terminal.sees(`Agent says  ${displayText(text.slice(0, 150)).slice(0, 20)}`.trimEnd())
      if (hasInvisible(text, { multiline: true }) && text.length < 100)
        expect(terminal.text()).toContain(`│ ${displayText(text)}`.trimEnd())
      // From elsewhere: nobody waits for the keys to count.
      const answer = { kind: 'deny' as const, reason: text }
      await scene.call('answerRequest', { id: request.id, digest: request.digest, answer })
      await terminal.seesNot('Agent says')
    }
    expectClean(terminal)
  }, 60_000)

  it('are shown and not obeyed where they are chosen from and filled in', async () => {
    const session = await scene.session()
    const terminal = scene.run(session, { columns: 160, rows: 50 })
    const [questions, form] = [await scene.ask(session, every[0] as Ask), await scene.ask(session, every[1] as Ask)]
    await terminal.sees('r rejects')
    for (let at = 1; at <= 16; at++) {
      await terminal.sees(`Question ${at} of 16`)
      terminal.press('1')
      await terminal.sees('› 1  ')
      terminal.press(keys.enter)
    }
    expect((await scene.resolved(questions)).resolution?.answer?.kind).toBe('answers')
    for (let at = 1; at <= texts.length; at++) {
      await terminal.sees(`${at} of ${texts.length} ·`)
      if (at === 1) await terminal.sees('Enter next')
      terminal.press(keys.enter)
    }
    await terminal.sees('[a] Send')
    terminal.press('a')
    expect((await scene.resolved(form)).resolution?.answer?.kind).toBe('submit')
    expectClean(terminal)
  }, 60_000)

  it('are shown and not obeyed by tui: in the list, looked at, opened', async () => {
    for (const { text } of texts) {
      const session = await scene.session(text.slice(0, 200))
      await scene.says(session, text)
      await scene.ask(session, askWith(text))
    }
    const terminal = scene.terminal(['tui'], { columns: 120, rows: 40 })
    await terminal.sees(`${texts.length} wait for you`)
    await terminal.sees('› ')
    for (let at = 0; at < texts.length; at++) {
      const before = terminal.raw.length
      terminal.press(keys.enter)
      await terminal.sees('back to the list')
      terminal.press(keys.escape)
      await terminal.sees('q leave')
      terminal.press(keys.down)
      if (at + 1 < texts.length) await terminal.until(() => terminal.raw.length > before)
    }
    expect(terminal.text()).toContain('Holdpoint')
    expectClean(terminal)
  }, 60_000)
})

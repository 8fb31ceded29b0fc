import { readFileSync } from 'node:fs'
import type { Ask, Request } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../test/support/gateway.ts'
import { quotedRows } from '../src/output/span.ts'
import { runCliAgainst } from './support/cli-process.ts'
import { approvalAsk, askAsExternalAgent } from './support/gateway-fixture.ts'
import { closeTerminals, keys, Terminal } from './support/terminal.ts'

// Read as text: one of them holds a lone surrogate, which no JSON body may carry and no importer accepts.
const file = new URL('../../protocol/test/data/display.json', import.meta.url)
const texts = (JSON.parse(readFileSync(file, 'utf8')) as readonly { name: string; text: string }[]).filter(({ text }) =>
  text.isWellFormed(),
)

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'none' })
})
afterEach(closeTerminals)
afterAll(closeGateways)

/** What no terminal may be given by us, once our own colours are taken away: controls but the line feed, and everything else that cannot be seen. */
const esc = '\u001b'
const ownColours = new RegExp(`${esc}\\[(?:0|1|2|31|32|33)m`, 'g')
const unseen = /[^\P{C}\n]|[\p{Zl}\p{Zp}\p{DI}\u2800]|(?![ \n])\p{Zs}|\p{Mn}{5}/u

function expectClean(output: string, what: string): void {
  expect(unseen.exec(output.replaceAll('\r\n', '\n').replace(ownColours, ''))?.[0], what).toBeUndefined()
}

/** The text everywhere an agent can put it; where names are short, as much of it as there is room for. */
function asksWith(whole: string): readonly Ask[] {
  const text = whole.slice(0, 150)
  const option = { label: `${text} `, description: whole, preview: whole }
  const field = { type: 'string' as const, title: text, description: whole, default: whole }
  const question = { header: text, question: whole, multiSelect: true, allowOther: true, secret: false }
  return [
    approvalAsk(
      { command: whole, [text]: whole },
      {
        title: text,
        description: whole,
        tool: text,
        cwd: whole,
        caution: { reason: whole, blockedPath: whole },
        suggestions: [{ id: text, label: text, scope: text }],
      },
    ),
    approvalAsk({ file_path: whole, old_string: whole, new_string: `${whole}!` }, { tool: 'Edit' }),
    {
      kind: 'questions',
      questions: [
        { id: text, options: [option], ...question },
        { id: 'b', options: [], ...question },
      ],
    },
    { kind: 'form', title: text, message: whole, schema: { type: 'object', properties: { [text]: field } } },
  ]
}

describe('what an agent says never reaches the terminal as anything but text', () => {
  it('in a pipe: show, inbox, sessions, watch, with and without --json', async () => {
    const opened: Request[] = []
    for (const { text } of texts) for (const ask of asksWith(text)) opened.push(await askAsExternalAgent(gateway, ask))
    const { id } = await gateway.call('startSession', {
      driver: 'external',
      title: texts
        .map(({ text }) => text.slice(0, 8))
        .join('')
        .slice(0, 300),
      cwd: texts[0]?.text ?? '',
    })
    for (const words of [
      ['inbox'],
      ['sessions'],
      ['inbox', '--json'],
      ['sessions', '--json'],
      ['show', id],
      ['show', id, '--json'],
    ]) {
      const { code, out } = await runCliAgainst(gateway, words)
      expect(code, words.join(' ')).toBe(0)
      expectClean(out, words.join(' '))
    }
    const { out } = await runCliAgainst(gateway, ['inbox', '--json'])
    expect(
      JSON.parse(out).items.map((item: Request) => item.ask),
      'spelt out, and yet the same',
    ).toEqual(opened.map(({ ask }) => ask))
  })

  it.each(texts)('at a terminal: $name', async ({ text }) => {
    const request = await askAsExternalAgent(gateway, asksWith(text)[0] as Ask)
    const shown = await runCliAgainst(gateway, ['show', request.id])
    expectClean(shown.out, 'show in a pipe')
    for (const { spans } of quotedRows(text))
      expect(shown.out).toContain(`  │ ${spans.map(span => span.text).join('')}`.trimEnd())
    const env = { HOLDPOINT_HOME: gateway.home.path }
    const terminal = new Terminal(['allow', request.id], { env, rows: 400, columns: 80 })
    await terminal.sees('[y/N]')
    terminal.press('n', keys.enter)
    await terminal.exit
    expectClean(terminal.raw, 'allow at a terminal')
  })

  it('in a refusal that repeats it', async () => {
    const ask = asksWith('x\u001b]0;title\u0007\u009b2J')[2] as Ask
    const request = await askAsExternalAgent(gateway, ask)
    for (const words of [['--choose', 'b=1'], [], ['--choose', '\u001b[2J']])
      expectClean((await runCliAgainst(gateway, ['answer', request.id, ...words])).err, 'answer')
    expectClean((await runCliAgainst(gateway, ['show', '\u001b[2J'])).err, 'show')
  })
})

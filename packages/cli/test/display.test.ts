import { readFileSync } from 'node:fs'
import type { Ask, Request } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../test/support/gateway.ts'
import { quotedRows } from '../src/output/span.ts'
import { runCliAgainst } from './support/cli-process.ts'
import { approvalAsk, askAsExternalAgent } from './support/gateway-fixture.ts'
import { closeTerminals, keys, Terminal } from './support/terminal.ts'

// Read the file as text, because one entry has a lone surrogate, which a JSON import would refuse.
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

const esc = '\u001b'
const ownColors = new RegExp(`${esc}\\[(?:0|1|2|31|32|33)m`, 'g')
/** Text that must never be printed: control characters other than line feeds, invisible characters, unusual spaces, and five combining marks in a row. */
const forbidden = /[^\P{C}\n]|[\p{Zl}\p{Zp}\p{DI}\u2800]|(?![ \n])\p{Zs}|\p{Mn}{5}/u

function expectClean(output: string, what: string): void {
  expect(forbidden.exec(output.replaceAll('\r\n', '\n').replace(ownColors, ''))?.[0], what).toBeUndefined()
}

/** Returns asks with the text in every field that an agent controls, shortened for fields with a length limit. */
function asksWith(full: string): readonly Ask[] {
  const text = full.slice(0, 150)
  const option = { label: `${text} `, description: full, preview: full }
  const field = { type: 'string' as const, title: text, description: full, default: full }
  const question = { header: text, question: full, multiSelect: true, allowOther: true, secret: false }
  return [
    approvalAsk(
      { command: full, [text]: full },
      {
        title: text,
        description: full,
        tool: text,
        cwd: full,
        caution: { reason: full, blockedPath: full },
        suggestions: [{ id: text, label: text, scope: text }],
      },
    ),
    approvalAsk({ file_path: full, old_string: full, new_string: `${full}!` }, { tool: 'Edit' }),
    {
      kind: 'questions',
      questions: [
        { id: text, options: [option], ...question },
        { id: 'b', options: [], ...question },
      ],
    },
    { kind: 'form', title: text, message: full, schema: { type: 'object', properties: { [text]: field } } },
  ]
}

describe('escaping of agents’ text', () => {
  it('inbox, sessions and show print the text escaped in a pipe, with and without --json', async () => {
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
      'escaped JSON parses to the same values',
    ).toEqual(opened.map(({ ask }) => ask))
  })

  it.each(texts)('show in a pipe and allow at a terminal print the text escaped: $name', async ({ text }) => {
    const request = await askAsExternalAgent(gateway, asksWith(text)[0] as Ask)
    const shown = await runCliAgainst(gateway, ['show', request.id])
    expectClean(shown.out, 'show in a pipe')
    for (const { spans } of quotedRows(text))
      expect(shown.out).toContain(`  │ ${spans.map(span => span.text).join('')}`.trimEnd())
    const env = { HOLDPOINT_HOME: gateway.home.path }
    const terminal = new Terminal(['allow', request.id], { env, rows: 400, columns: 80 })
    await terminal.waitFor('[y/N]')
    terminal.press('n', keys.enter)
    await terminal.exit
    expectClean(terminal.raw, 'allow at a terminal')
  })

  it('an error message that quotes the text shows it escaped', async () => {
    const ask = asksWith('x\u001b]0;title\u0007\u009b2J')[2] as Ask
    const request = await askAsExternalAgent(gateway, ask)
    for (const words of [['--choose', 'b=1'], [], ['--choose', '\u001b[2J']])
      expectClean((await runCliAgainst(gateway, ['answer', request.id, ...words])).err, 'answer')
    expectClean((await runCliAgainst(gateway, ['show', '\u001b[2J'])).err, 'show')
  })
})

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
  it('inbox, sessions, logs, audit list and show print agents’ text escaped in a pipe, with and without --json', async () => {
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
    const [first] = opened
    if (!first) throw new Error('No request was opened')
    const answered = await askAsExternalAgent(gateway, first.ask)
    await gateway.call('answerRequest', { id: answered.id, digest: answered.digest, answer: { kind: 'deny' } })
    // The cells of lists are separated by tabs. A tab in the text of an agent would add a cell.
    for (const [words, cells] of [
      [['inbox'], 7],
      [['sessions'], 6],
      [['audit', 'list'], 4],
    ] as const) {
      const { code, out } = await runCliAgainst(gateway, words)
      expect(code, words.join(' ')).toBe(0)
      for (const line of out.trimEnd().split('\n')) {
        expect(line.split('\t').length, words.join(' ')).toBe(cells)
        for (const cell of line.split('\t')) expectClean(cell, words.join(' '))
      }
    }
    for (const words of [
      ['inbox', '--json'],
      ['logs', answered.session],
      ['logs', answered.session, '--json'],
      ['audit', 'list', '--csv'],
      ['audit', 'list', '--json'],
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

  it.each(texts)('show in a pipe and allow at a terminal print agents’ text escaped: $name', async ({ text }) => {
    const request = await askAsExternalAgent(gateway, asksWith(text)[0] as Ask)
    const shown = await runCliAgainst(gateway, ['show', request.id])
    expectClean(shown.out, 'show in a pipe')
    for (const { spans } of quotedRows(text))
      expect(shown.out).toContain(`  │ ${spans.map(span => span.text).join('')}`.trimEnd())
    const env = { HOLDPOINT_HOME: gateway.home.path }
    const terminal = new Terminal(['allow', request.id], { env, rows: 400, columns: 80 })
    // Dangerous requests ask for a typed word.
    await terminal.waitFor(/\[y\/N\]|Type "allow"/)
    terminal.press('n', keys.enter)
    await terminal.exit
    expectClean(terminal.raw, 'allow at a terminal')
  })

  it('F7: show, inbox and allow escape right-to-left letters in code, and keep them in prose', async () => {
    const ask = approvalAsk(
      { command: 'cat אבג > דהו', 'א/ב': ['ג/ד'] },
      {
        tool: 'כלי/א',
        cwd: '/srv/אבג',
        title: 'Keep אבג > דהו',
        description: 'שלום (עולם)',
        suggestions: [{ id: 's', label: 'cat א', scope: 'session' }],
      },
    )
    const request = await askAsExternalAgent(gateway, ask)
    const rightToLeft = /[\u0590-\u08ff]/
    const unescaped = (screen: string) => screen.split('\n').filter(line => rightToLeft.test(line))
    const { out } = await runCliAgainst(gateway, ['show', request.id])
    expect(unescaped(out).map(line => line.trim())).toEqual(['│ שלום (עולם)'])
    expect(out).toContain('  │ cat \\u{5d0}\\u{5d1}\\u{5d2} > \\u{5d3}\\u{5d4}\\u{5d5}\n')
    expect(out).toContain('⚠ Right-to-left letters are shown as \\u{…}, in their stored order.')
    await askAsExternalAgent(gateway, approvalAsk({ 'א/ב': 'ג/ד' }, { tool: 'כלי/א', title: 'Keep' }))
    const inbox = (await runCliAgainst(gateway, ['inbox'])).out
    expect(unescaped(inbox)).toEqual([])
    expect(inbox).toContain('Use “\\u{5db}\\u{5dc}\\u{5d9}/\\u{5d0}”')
    const terminal = new Terminal(['allow', request.id], { env: { HOLDPOINT_HOME: gateway.home.path }, rows: 60 })
    // Dangerous requests ask for a typed word.
    await terminal.waitFor(/\[y\/N\]|Type "allow"/)
    terminal.press('n', keys.enter)
    await terminal.exit
    expect(unescaped(terminal.text()).map(line => line.trim())).toEqual(['│ שלום (עולם)'])
  })

  it('D6: holdpoint show warns about look-alike letters in programs and hosts', async () => {
    const command = 'n\u0440m i; curl https://g\u0456thub.com'
    const request = await askAsExternalAgent(gateway, approvalAsk({ command }))
    const { out } = await runCliAgainst(gateway, ['show', request.id])
    expect(out).toContain('⚠ Some letters look like others: \u0440 (U+0440, Cyrillic), \u0456 (U+0456, Cyrillic).')
    expect(out).toContain('⚠ The program name “n\u0440m” has letters other than a to z.')
    expect(out).toContain('⚠ The host “g\u0456thub.com” is really xn--gthub-n2e.com.')
  })

  it('D11: holdpoint show marks CRLF, trailing blanks, tabs and look-alike letters in a change', async () => {
    const input = { file_path: '/a', old_string: 'one\ntwo\nadmin', new_string: 'one\r\ntwo \t\n\u0430dmin ' }
    const request = await askAsExternalAgent(gateway, approvalAsk(input, { tool: 'Edit' }))
    const { out } = await runCliAgainst(gateway, ['show', request.id])
    for (const line of ['+ one⟨CR⟩', '+ two →   ', '+ \u0430dmin⟨1 space⟩']) expect(out).toContain(line.trimEnd())
    expect(out).toContain('look like others: \u0430 (U+0430, Cyrillic)')
    expect(out).toContain('mixed line endings')
  })

  it('an error message that quotes an agent’s text shows the text escaped', async () => {
    const ask = asksWith('x\u001b]0;title\u0007\u009b2J')[2] as Ask
    const request = await askAsExternalAgent(gateway, ask)
    for (const words of [['--choose', 'b=1'], [], ['--choose', '\u001b[2J']])
      expectClean((await runCliAgainst(gateway, ['answer', request.id, ...words])).err, 'answer')
    expectClean((await runCliAgainst(gateway, ['show', '\u001b[2J'])).err, 'show')
  })
})

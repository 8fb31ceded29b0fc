import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import { type Ask, type Cursor, hasInvisible, type SessionId } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: a CommonJS module, whose exports the linter cannot see
import xterm from '@xterm/headless'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { eventRow } from '../src/output/event.ts'
import { Output } from '../src/output/output.ts'
import { askRows } from '../src/output/request.ts'
import { quotedRows, row, trusted, untrusted } from '../src/output/span.ts'
import { tableRows } from '../src/output/table.ts'
import { cut, cutSpans, type StyledLine, widthOf, widthOfSpans, wrap } from '../src/output/width.ts'
import { InlinePainter } from '../src/tui/terminal/painter.ts'

const textOf = (pieces: ReturnType<typeof wrap>) => pieces.map(piece => piece.map(span => span.text).join(''))

/** Returns the lines that a live view writes to a terminal of this width. */
function drawn(lines: readonly StyledLine[], columns: number): readonly string[] {
  let written = ''
  const stream = { isTTY: true, columns, write: (text: string) => (written += text) } as unknown as WriteStream // `Output` uses only these members
  new InlinePainter(stream, new Output(stream, { TERM: 'xterm' })).draw(lines)
  return stripVTControlCharacters(written).replaceAll('\r', '').split('\n')
}

describe('color output', () => {
  it.each<[string, boolean, NodeJS.ProcessEnv, string]>([
    ['is used on a terminal', true, { TERM: 'xterm' }, '\u001b[33mx\u001b[0m\n'],
    ['is left out on a terminal without colors', true, { TERM: 'dumb' }, 'x\n'],
    ['is left out on a terminal with NO_COLOR', true, { TERM: 'xterm', NO_COLOR: '1' }, 'x\n'],
    ['is left out in a pipe', false, { TERM: 'xterm' }, 'x\n'],
  ])('color output %s', (_what, isTTY, env, expected) => {
    let out = ''
    const stream = { isTTY, columns: 80, write: (text: string) => (out += text) }
    new Output(stream as unknown as WriteStream, env).print(row(trusted('x', 'waiting'))) // `Output` uses only these members
    expect(out).toBe(expected)
  })
})

describe('an event line', () => {
  const event = {
    cursor: 'e-1' as Cursor, // any value works in this test
    at: 0,
    session: 'ses_x' as SessionId, // any value works in this test
    type: 'message.added' as const,
    block: 'b',
    role: 'agent' as const,
    text: 'word '.repeat(30),
  }
  it('an event line keeps the title in its column, even if the title imitates Holdpoint’s own text, and aligns continuation lines', () => {
    const forged = 'api  req_1 allowed by you'
    const lines = [forged, 'x', '漢字'].map(title => wrap(eventRow(event, () => title, 80) ?? row(), 80)).map(textOf)
    for (const [first = '', second = ''] of lines) {
      const column = widthOf(first.slice(0, first.indexOf('says: ')))
      expect(column).toBe(28)
      expect(second.indexOf('┊')).toBe(26)
    }
    expect(lines[0]?.[0]).not.toContain('allowed by you')
    expect(textOf(wrap(eventRow(event, () => forged, null) ?? row(), null))[0], 'a pipe gets the full text').toContain(
      forged,
    )
  })
})

describe('a table on a terminal', () => {
  const head = ['id', 'state', 'title', 'folder']
  const lines = [
    ['ses_abc', 'waits for you', 'api-server', '/srv/some/long/folder/of/api'].map(cell => untrusted(cell)),
  ]
  const drawn = (columns: number) => tableRows(head, lines, columns).flatMap(one => textOf(wrap(one, columns)))

  it('a table on a terminal fits each row on one line at any width by cutting the last column and then dropping columns', () => {
    expect(drawn(60)).toEqual([
      'ID       STATE          TITLE       FOLDER',
      expect.stringMatching(/^ses_abc {2}waits for you {2}api-server {2}\/srv.*…?.*api$/),
    ])
    expect(drawn(40)).toEqual(['ID       STATE          TITLE', 'ses_abc  waits for you  api-server'])
    expect(drawn(10)).toEqual(['ID', 'ses_abc'])
    for (const columns of [10, 24, 40, 60, 80])
      for (const line of drawn(columns)) expect(widthOf(line)).toBeLessThanOrEqual(columns)
  })
  it('a table on a terminal first leaves out the columns that are marked as optional', () => {
    const rows = tableRows(head, lines, 36, { spare: ['state', 'none'] })
    expect(rows.flatMap(one => textOf(wrap(one, 36)))[0]).toBe('ID       TITLE       FOLDER')
    const fewer = tableRows(head, lines, 24, { spare: ['state', 'title'] })
    expect(fewer.flatMap(one => textOf(wrap(one, 24)))[0]).toBe('ID       FOLDER')
  })
})

describe('text on a terminal', () => {
  it.each([
    ['letters', 'abc', 3],
    ['combining accents', 'e\u0301', 1],
    ['Chinese, Japanese and Korean', '漢かカ한', 8],
    ['emoji', '🚀✅', 4],
    ['emoji with a variation selector', '\u2600\ufe0f\u00a9\ufe0f\u2764\ufe0f', 6],
    ['full-width forms', 'ＡＢ', 4],
    ['box drawing and arrows', '│→…', 3],
    // The width of these characters is ambiguous in Unicode. tmux draws them two columns wide.
    ['numbers in a square', '㉈㉏', 4],
  ])('text on a terminal is measured as wide as a terminal draws it: %s', (_what, text, columns) => {
    expect(widthOf(text)).toBe(columns)
  })

  it('a line never ends between an emoji and its variation selector', () => {
    const long = { gutter: { first: '', rest: '' }, spans: [trusted(`a${'\u2600\ufe0f'.repeat(12)}`)] }
    const lines = wrap(long, 8).map(line => line.map(({ text }) => text).join(''))
    expect(lines.every(line => !line.startsWith('\ufe0f') && widthOf(line) <= 8)).toBe(true)
    expect(lines.join('')).toBe(`a${'\u2600\ufe0f'.repeat(12)}`)
  })

  it('text on a terminal is never measured narrower than string-width measures it, for every character and for random strings', () => {
    // Higher planes have no visible characters, so escaped text never contains them.
    for (let code = 0; code < 0x40000; code++) {
      const char = String.fromCodePoint(code)
      const width = widthOf(char)
      // No character is wider than two columns, so a width of 2 is never too narrow.
      if (width < 2 && !hasInvisible(char) && width < stringWidth(char))
        expect.fail(`U+${code.toString(16)} is measured too narrow`)
    }
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), text => {
        const shown = untrusted(text).text
        expect(widthOf(shown)).toBeGreaterThanOrEqual(stringWidth(shown))
      }),
      { examples: [['\u2600\ufe0f'], ['1\u20e3#\u20e3'], ['サーバー・'], ['\u1100\u1161\u11a8\u1160'], ['का\u0903']] },
    )
  })

  it('text on a terminal is never measured narrower than xterm draws it, for every character', async () => {
    const rows = 1024
    const screen = new xterm.Terminal({ cols: 4, rows, allowProposedApi: true })
    for (let from = 0x20; from < 0x40000; from += rows) {
      const codes = Array.from({ length: rows }, (_, index) => from + index)
      const chars = codes.map(code => (0xd800 <= code && code < 0xe000 ? '' : String.fromCodePoint(code)))
      const visible = chars.filter(char => char !== '' && !hasInvisible(char))
      const drawn = visible.map((char, index) => `\u001b[${index + 1}H\u001b[2K${char}`).join('')
      await new Promise<void>(resolve => screen.write(drawn, resolve))
      for (const [index, char] of visible.entries()) {
        const width = screen.buffer.active.getLine(index)?.getCell(0)?.getWidth() ?? 0
        if (width > 1 && widthOf(char) < width)
          expect.fail(`U+${char.codePointAt(0)?.toString(16)} is measured too narrow`)
      }
    }
    screen.dispose()
  })

  it('text on a terminal is drawn by the live views exactly as laid out, including the last character of a line', () => {
    const rows = ['サーバー・', '\u4dc0\u2ff0\u3190', '🇩🇪👍🏽1\u20e3', 'का\u0903e\u0301'].map(text =>
      row(untrusted(text.repeat(40))),
    )
    const pieces = rows.flatMap(one => wrap(one, 37))
    expect(drawn(pieces, 37)).toEqual(textOf(pieces).map(line => line.trimEnd()))
  })

  it('text on a terminal is cut by the live views when it is wider than the screen', () => {
    expect(drawn([[trusted('a line of forty columns, which is too many')], [trusted('short')]], 12)).toEqual([
      'a line …many',
      'short',
    ])
  })

  it('text on a terminal is cut in the middle, with a marker for the missing part', () => {
    expect(cut('漢字漢字', 5)).toBe('漢…字')
    expect(cut('short', 5)).toBe('short')
    expect(cut(`echo ${'x'.repeat(500)} && rm -rf ~`, 60)).toMatch(/^echo x+ ⟨\d+ more⟩ \S* ?\S* rm -rf ~$/)
    // On a narrow line, the number would need the space of the text.
    expect(cut(`echo ${'x'.repeat(500)} && rm -rf ~`, 40)).toMatch(/^echo x{20,}…x* && rm -rf ~$/)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 60 }), (text, columns) => {
        const shown = untrusted(text).text
        expect(widthOf(cut(shown, columns))).toBeLessThanOrEqual(columns)
        expect(widthOfSpans(cutSpans([trusted('a'), untrusted(text), trusted('b')], columns))).toBeLessThanOrEqual(
          columns,
        )
      }),
    )
  })

  it('text on a terminal is wrapped after a space if possible, and every continuation line starts with the gutter', () => {
    const [line] = quotedRows('one two three four five six')
    expect(textOf(wrap(line as NonNullable<typeof line>, 18))).toEqual(['  │ one two three ', '  ┊ four five six'])
    expect(textOf(wrap(row(untrusted('x'.repeat(25))), 12))).toEqual([
      'x'.repeat(12),
      `  ┊ ${'x'.repeat(8)}`,
      '  ┊ xxxxx',
    ])
    expect(textOf(wrap(row(trusted('a '), untrusted('b'.repeat(12)), trusted('c')), 12))).toEqual([
      'a bbbbbbbbbb',
      '  ┊ bbc',
    ])
    expect(textOf(wrap(row(), 10))).toEqual([''])
  })

  it('an agent’s text on a terminal never starts a line without a gutter or label, at any width', () => {
    const forged = `${'x'.repeat(70)} [a] Allow  ✓ allowed by you  `.repeat(3)
    const ask: Ask = {
      kind: 'approval',
      tool: forged,
      input: { command: 'ls' },
      title: forged,
      cwd: forged,
      editable: true,
      caution: { reason: forged, blockedPath: forged },
      suggestions: [{ id: 's', label: forged, scope: forged }],
    }
    const form: Ask = { kind: 'form', title: forged, message: forged, schema: { type: 'object', properties: {} } }
    for (const columns of [40, 80])
      for (const piece of [...askRows(ask), ...askRows(form)].flatMap(one => wrap(one, columns))) {
        const line = textOf([piece]).join('')
        expect(line).toMatch(/^( *[│┊] |(Tool|Folder|Agent says|Caution|Permission|Suggestions|Form) |$)/)
      }
  })

  it('text on a terminal shows a count instead of long runs of whitespace, with a marker that cannot be forged', () => {
    const shown = (text: string) => quotedRows(text).map(({ spans }) => spans.map(span => span.text).join(''))
    expect(shown(`ls${' '.repeat(3000)}; rm -rf ~`)).toEqual(['ls⟨3000 spaces⟩; rm -rf ~'])
    expect(shown(`ls${'\t'.repeat(400)}; rm`)).toEqual(['ls⟨400 tabs⟩; rm'])
    expect(shown(`ls${'\n'.repeat(201)}rm`)).toEqual(['ls', '⟨200 blank lines⟩', 'rm'])
    expect(shown(`${' '.repeat(40)}x`)).toEqual([`${' '.repeat(40)}x`])
    expect(shown('a⟨3 spaces⟩b \\⟨4 tabs⟩')).toEqual(['a\\u{27e8}3 spaces⟩b \\\\\\u{27e8}4 tabs⟩'])
    expect(untrusted(`a${' '.repeat(99)}b`).text).toBe('a⟨99 spaces⟩b')
  })

  it('an edit on a terminal mentions CRLF once if all line endings are CRLF, otherwise on each line with CRLF, and counts trailing spaces', () => {
    const shown = (old_string: string, new_string: string) =>
      askRows({
        kind: 'approval',
        tool: 'Edit',
        input: { file_path: '/a', old_string, new_string },
        title: '',
        cwd: '/',
        editable: true,
      })
        .map(({ spans }) => spans.map(span => span.text).join(''))
        .slice(0, 4)
    expect(shown('one\r\ntwo', 'one\r\n2')).toEqual(['In /a · CRLF line endings', '1   one', '2 - two', '2 + 2'])
    expect(shown('one\r\ntwo', 'one\ntwo').slice(1)).toEqual(['1 - one⟨CR⟩', '1 + one', '2   two'])
    expect(shown('one \ntwo', 'one\ntwo  ').slice(1)).toEqual(['1 - one⟨1 space⟩', '2 - two', '1 + one'])
    expect(shown('one\r\n', 'one  \n').slice(1)).toEqual(['1 - one⟨CR⟩', '1 + one⟨2 spaces⟩', '2   '])
    expect(shown('one\r\ntwo', 'one\r\n2').join('\n')).not.toContain('invisible characters')
  })

  it('text in a pipe is not wrapped', () => {
    expect(textOf(wrap(row(untrusted('x'.repeat(500))), null))).toEqual(['x'.repeat(500)])
  })

  it('text on a terminal shows invisible characters as escapes and tabs as arrows', () => {
    expect(quotedRows('a\tb\u001b[0m\r\nc').map(({ spans }) => spans.map(span => span.text).join(''))).toEqual([
      'a→   b\\u{1b}[0m⟨CR⟩',
      'c',
    ])
    expect(untrusted('\\u{1b}').text, 'text that looks like an escape is distinguishable from one').toBe('\\\\u{1b}')
    expect(trusted('mistake\u001b').text).toBe('mistake\\u{1b}')
  })
})

/** An agent's Markdown on a terminal. */
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { markdownRows, splitGrowing } from '../src/output/markdown.ts'
import { wrap } from '../src/output/width.ts'

function draw(text: string, columns = 60): string {
  return markdownRows(text, columns)
    .flatMap(row => wrap(row, columns))
    .map(line =>
      line
        .map(span => span.text)
        .join('')
        .trimEnd(),
    )
    .join('\n')
}
const styled = (text: string) =>
  markdownRows(text, 80).flatMap(row =>
    row.spans.filter(({ style }) => style !== null).map(({ text: shown, style }) => `${style}:${shown}`),
  )

describe('Markdown on a terminal', () => {
  it('Markdown on a terminal shows headings, emphasis, lists, quotes and tables without the Markdown signs', () => {
    const text = [
      '## The *plan*',
      '',
      'Run **all** tests and `npm run build`.',
      '',
      '- one',
      '- two with a long text that does not fit on one line of sixty columns',
      '  1. nested',
      '- [x] done',
      '',
      '> quoted',
      '',
      '| name | size |',
      '| --- | ---: |',
      '| a.ts | 12 |',
      '| long-name.ts | 3 |',
    ].join('\n')
    expect(draw(text)).toBe(
      [
        '  │ The plan',
        '  │',
        '  │ Run all tests and `npm run build`.',
        '  │',
        '  │ • one',
        '  │ • two with a long text that does not fit on one line of',
        '  ┊   sixty columns',
        '  │   1. nested',
        '  │ • [x] done',
        '  │',
        '  │ > quoted',
        '  │',
        '  │ name          size',
        '  │ ────────────  ────',
        '  │ a.ts          12',
        '  │ long-name.ts  3',
      ].join('\n'),
    )
    expect(styled('# A *b* **c** `d`')).toEqual([
      'strong:A ',
      'strong:b',
      'strong: ',
      'strong:c',
      'strong: ',
      'quiet:`',
      'code:d',
      'quiet:`',
    ])
  })

  it('Markdown on a terminal shows code exactly, with its language and its blank lines', () => {
    expect(draw('```ts\nconst a = 1\n\n\tb()\n```')).toBe('  │ ts\n  │     const a = 1\n  │\n  │     →   b()')
    expect(draw('`\u05d0 b`')).toBe('  │ `\\u{5d0} b`')
  })

  it('Markdown on a terminal shows the target of a link, and images, HTML and comments as source', () => {
    expect(draw('[our site](https://evil.example/x "a title")')).toBe('  │ our site (https://evil.example/x "a title")')
    expect(draw('see https://a.example/b')).toBe('  │ see https://a.example/b')
    expect(draw('![logo](https://a.example/logo.png)')).toBe('  │ ![logo](https://a.example/logo.png)')
    expect(draw('a <!-- hidden --> b')).toBe('  │ a <!-- hidden --> b')
    expect(draw('<b>bold</b>')).toContain('<b>bold</b>')
    expect(draw('[x]: https://a.example "secret"')).toContain('https://a.example "secret"')
    expect(draw('~~not this~~')).toBe('  │ ~~not this~~')
  })

  it('Markdown on a terminal escapes control characters everywhere', () => {
    const hostile = '\u001b[31m\u202e\u0007'
    const all = [
      `# ${hostile}`,
      `- ${hostile}`,
      `> ${hostile}`,
      `**${hostile}**`,
      `\`${hostile}\``,
      `[${hostile}](http://a.example/${hostile})`,
      `| ${hostile} |\n| - |\n| ${hostile} |`,
      `\`\`\`${hostile}\n${hostile}\n\`\`\``,
    ].join('\n\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
    expect(draw(all)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
    expect(draw(all).match(/\\u\{1b\}/g)?.length).toBeGreaterThanOrEqual(10)
  })

  it('Markdown on a terminal shows a block as source if its markup splits text that imitates an escape or a marker', () => {
    expect(draw('⟨3 **spaces**⟩')).not.toContain('⟨3 spaces⟩')
    expect(draw('\\\\u{**1b**}')).not.toContain('│ \\u{1b}')
  })

  it('Markdown on a terminal puts the cells of a wide table below each other, and shows a table with extra cells as source', () => {
    expect(draw('| first | second |\n| - | - |\n| aaaaaaaaaa | bbbbbbbbbb |', 24)).toBe(
      '  │ first: aaaaaaaaaa\n  │ second: bbbbbbbbbb',
    )
    expect(draw('| a |\n| - |\n| b | hidden |')).toContain('hidden')
  })

  it('Markdown on a terminal keeps the stored order of right-to-left prose, and counts long runs of blanks', () => {
    expect(draw('**\u05d0\u05d1** then')).toBe('  │ \u05d0\u05d1 then')
    expect(draw(`a${' '.repeat(80)}b`)).toContain('⟨80 spaces⟩')
  })

  it('Markdown on a terminal loses no letter of the text, whatever its markup', () => {
    for (const text of [
      'a * b_c_d ** e',
      '1) x\n\n2) y',
      'a\n---\nb',
      '    code\n\ntext',
      '- a\n\n  b\n- c',
      '***',
      '>',
      '- ',
      '|a|b|\n|-|-|',
      '\\*not emphasis\\*',
    ])
      expect(draw(text).replace(/[^a-z]/g, ''), text).toBe(text.replace(/[^a-z]/g, ''))
  })

  it('Markdown on a terminal takes little time for texts with much markup', () => {
    for (const part of ['*a ', '[', '> ', '| ', '`'])
      expect(
        leastCpuMs(() => markdownRows(part.repeat(20_000), 80)),
        part,
      ).toBeLessThan(1500)
  })

  it('Markdown on a terminal splits streaming text before its last block', () => {
    expect(splitGrowing('One.\n\nTwo')).toEqual(['One.\n\n', 'Two'])
    expect(splitGrowing('- a\n- b')).toEqual(['', '- a\n- b'])
    expect(splitGrowing('text\n\n```sh\nls\n')).toEqual(['text\n\n', '```sh\nls\n'])
  })
  it('Markdown on a terminal keeps a list together while the number of its next item is still growing', () => {
    const list = '1. a\n\n   b\n2. c\n\n'
    expect(splitGrowing(`${list}3`)).toEqual(['', `${list}3`])
    expect(splitGrowing(`${list}3 more`)).toEqual([list, '3 more'])
    expect(splitGrowing('Text.\n\n3')).toEqual(['Text.\n\n', '3'])
  })
})

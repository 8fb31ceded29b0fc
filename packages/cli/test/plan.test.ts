/** Tests that `planRows` styles a plan for reading without losing a character. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { planRows } from '../src/output/plan.ts'
import { wrap } from '../src/output/width.ts'

const textOf = (rows: ReturnType<typeof planRows>) => rows.map(({ spans }) => spans.map(({ text }) => text).join(''))
const styles = (plan: string) =>
  planRows(plan).map(({ spans }) => spans.filter(({ text }) => text !== '').map(({ text, style }) => [text, style]))

describe('a plan in the terminal', () => {
  it('a plan in the terminal is printed with styles for headings, emphasis, quotes and code', () => {
    expect(styles('## First\n- do **this** now\n> said\n```sh\n# no heading\n```\nend')).toEqual([
      [
        ['## ', 'quiet'],
        ['First', 'strong'],
      ],
      [
        ['- ', null],
        ['do ', null],
        ['**', 'quiet'],
        ['this', 'strong'],
        ['**', 'quiet'],
        [' now', null],
      ],
      [['> said', 'quiet']],
      [['```sh', 'quiet']],
      [['# no heading', null]],
      [['```', 'quiet']],
      [['end', null]],
    ])
    expect(styles('2 ** 3'), 'unclosed asterisks are plain text').toEqual([
      [
        ['2 ', null],
        ['**', null],
        [' 3', null],
      ],
    ])
  })

  it('a plan in the terminal has the continuation lines of a list item indented after the bar', () => {
    const [first, second] = planRows(`10. ${'word '.repeat(12)}`).flatMap(row => wrap(row, 30))
    expect(first?.map(({ text }) => text).join('')).toMatch(/^ {2}│ 10\. word/)
    expect(second?.map(({ text }) => text).join('')).toMatch(/^ {2}┊ {5}word/)
  })

  it('a plan in the terminal keeps every character of every line', () => {
    const line = fc.stringMatching(/^[#>*`~ a-z0-9.)+-]{0,24}$/)
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), lines => {
        const withoutSpaces = (text: string) => text.replaceAll(' ', '')
        const texts = textOf(planRows(lines.join('\n'))).filter(text => !/^⟨\d+ blank lines⟩$/.test(text))
        expect(texts.map(withoutSpaces).join('')).toBe(lines.map(withoutSpaces).join(''))
      }),
    )
  })

  it('a plan in the terminal shows escape sequences and direction marks as visible text in every part', () => {
    const hostile = '\u001b[2J\u202e'
    const plan = [`# ${hostile}`, `- **${hostile}** ${hostile}`, `> ${hostile}`, '```', hostile, '```'].join('\n')
    const texts = textOf(planRows(plan)).join('')
    for (const char of hostile.match(/[^[2J]/g) ?? []) expect(texts).not.toContain(char)
  })

  it('a plan in the terminal is formatted within two seconds even if it has 100,000 markers', () => {
    const plan = `${'**a '.repeat(50_000)}\n${'```\n'.repeat(20_000)}${'\n'.repeat(50_000)}`
    expect(leastCpuMs(() => planRows(plan))).toBeLessThan(2000)
  })
})

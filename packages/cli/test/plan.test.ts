/** Plans set for reading: nothing of their text is lost, whatever it looks like. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planRows } from '../src/output/plan.ts'
import { wrap } from '../src/output/width.ts'

const textOf = (rows: ReturnType<typeof planRows>) => rows.map(({ spans }) => spans.map(({ text }) => text).join(''))
const looks = (plan: string) =>
  planRows(plan).map(({ spans }) => spans.filter(({ text }) => text !== '').map(({ text, style }) => [text, style]))

describe('a plan', () => {
  it('has its headings, stresses, quotes and code told apart', () => {
    expect(looks('## First\n- do **this** now\n> said\n```sh\n# no heading\n```\nend')).toEqual([
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
    expect(looks('2 ** 3'), 'what is not closed stresses nothing').toEqual([
      [
        ['2 ', null],
        ['**', null],
        [' 3', null],
      ],
    ])
  })

  it('sets what goes on under its beginning, behind the bar', () => {
    const [first, second] = planRows(`10. ${'word '.repeat(12)}`).flatMap(row => wrap(row, 30))
    expect(first?.map(({ text }) => text).join('')).toMatch(/^ {2}│ 10\. word/)
    expect(second?.map(({ text }) => text).join('')).toMatch(/^ {2}┊ {5}word/)
  })

  it('keeps every character of every line', () => {
    const line = fc.stringMatching(/^[#>*`~ a-z0-9.)+-]{0,24}$/)
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), lines => {
        const bare = (text: string) => text.replaceAll(' ', '')
        const told = textOf(planRows(lines.join('\n'))).filter(text => !/^⟨\d+ blank lines⟩$/.test(text))
        expect(told.map(bare).join('')).toBe(lines.map(bare).join(''))
      }),
    )
  })

  it('lets no escape through, in any part of it', () => {
    const evil = '\u001b[2J\u202e'
    const plan = [`# ${evil}`, `- **${evil}** ${evil}`, `> ${evil}`, '```', evil, '```'].join('\n')
    const told = textOf(planRows(plan)).join('')
    for (const char of evil.match(/[^[2J]/g) ?? []) expect(told).not.toContain(char)
  })

  it('of many marks is read in no time', () => {
    const before = performance.now()
    planRows(`${'**a '.repeat(50_000)}\n${'```\n'.repeat(20_000)}${'\n'.repeat(50_000)}`)
    expect(performance.now() - before).toBeLessThan(2000)
  })
})

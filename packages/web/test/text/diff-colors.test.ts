import { diffLines, displayRun } from '@holdpoint/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rowColors } from '../../src/text/diff-colors.ts'
import { languageOf } from '../../src/text/highlighter.ts'
import { lineSegments } from '../../src/text/line-segments.ts'

const rowsOf = (before: string, after: string) => diffLines([{ before, after }]).diffs[0] ?? []

describe('the colors of a diff', () => {
  it('a code comment over several lines has one color in a diff, even if only some of its lines changed', () => {
    const rows = rowsOf('/* one\n two */\nconst a = 1', '/* one\n 2 */\nconst a = 1')
    const colors = rowColors(rows, 'ts', 1000)
    for (const row of rows.slice(0, 3)) expect(colors.get(row)?.map(({ color }) => color)).toEqual(['quiet'])
    expect(colors.get(rows[3] as never)?.[0]).toEqual({ text: 'const', color: 'keyword' })
  })
  it('the colors of a diff never add, drop or move text', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '"', '/*', '*/', '\n', '\t', ' ', '\u200b', '⟨', 'const ', '#', '\r'),
    })
    fc.assert(
      fc.property(text, text, fc.constantFrom('ts', 'py', 'md', 'yaml', 'sh', 'html'), (before, after, lang) => {
        const rows = rowsOf(before, after)
        const colors = rowColors(rows, lang, 1000)
        for (const row of rows) {
          const line = displayRun(row)
          const segments = lineSegments(line, [0, Math.min(2, line.length)], colors.get(row))
          expect(segments.map(segment => segment.text).join('')).toBe(line)
        }
      }),
    )
  })
  it('the language for the colors of a diff follows from the file name', () => {
    expect(languageOf('/a/b.test.ts')).toBe('ts')
    expect(languageOf('C:\\x\\Main.PY')).toBe('py')
    expect(languageOf('/a/Dockerfile')).toBe('dockerfile')
    expect(languageOf('/a.ts/LICENSE')).toBeUndefined()
    expect(languageOf('/a/run.sh')).toBe('sh')
  })
})

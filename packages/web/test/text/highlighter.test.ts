import { describe, expect, it } from 'vitest'
import { highlight } from '../../src/text/highlighter.ts'

const text = (lang: string, code: string) =>
  highlight(code, lang)
    ?.map(segment => segment.text)
    .join('')

describe('highlight', () => {
  it.each([
    'json',
    'ts',
    'js',
    'tsx',
    'jsx',
    'python',
    'py',
    'diff',
    'yaml',
    'yml',
    'sql',
    'css',
    'html',
    'xml',
    'go',
    'rust',
    'java',
    'c',
    'cpp',
    'markdown',
    'md',
    'dockerfile',
  ])('highlight highlights %s code without losing a character', lang => {
    const code = 'if (x < "a\\u{200b}b") { return 42 } # <b>no</b> &amp; \t\n'
    expect(text(lang, code)).toBe(code)
  })
  it('highlight gives keywords and strings different colors', () => {
    expect(highlight('const a = "b"', 'ts')).toEqual(
      expect.arrayContaining([
        { text: 'const', color: 'keyword' },
        { text: '"b"', color: 'string' },
      ]),
    )
  })
  it('highlight returns null for an unknown language', () => {
    expect(highlight('x', 'brainfuck')).toBeNull()
    expect(highlight('x', '__proto__')).toBeNull()
  })
})

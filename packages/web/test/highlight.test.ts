import { describe, expect, it } from 'vitest'
import { highlight } from '../src/text/highlighter.ts'

const text = (lang: string, code: string) =>
  highlight(code, lang)
    ?.map(piece => piece.text)
    .join('')

describe('colours', () => {
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
  ])('are known for %s, and leave every character in its place', lang => {
    const code = 'if (x < "a\\u{200b}b") { return 42 } # <b>no</b> &amp; \t\n'
    expect(text(lang, code)).toBe(code)
  })
  it('tell a keyword from a string', () => {
    expect(highlight('const a = "b"', 'ts')).toEqual(
      expect.arrayContaining([
        { text: 'const', color: 'keyword' },
        { text: '"b"', color: 'string' },
      ]),
    )
  })
  it('are none for a language that is not known', () => {
    expect(highlight('x', 'brainfuck')).toBeNull()
    expect(highlight('x', '__proto__')).toBeNull()
  })
})

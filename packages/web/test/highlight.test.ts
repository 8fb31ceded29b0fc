import { describe, expect, it } from 'vitest'
import { paint } from '../src/parts/highlighter.ts'

const text = (lang: string, code: string) =>
  paint(code, lang)
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
    expect(paint('const a = "b"', 'ts')).toEqual(
      expect.arrayContaining([
        { text: 'const', tone: 'keyword' },
        { text: '"b"', tone: 'string' },
      ]),
    )
  })
  it('are none for a language that is not known', () => {
    expect(paint('x', 'brainfuck')).toBeNull()
    expect(paint('x', '__proto__')).toBeNull()
  })
})

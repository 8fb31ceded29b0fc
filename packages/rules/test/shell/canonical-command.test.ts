/** Tests that the canonical form of a command is read as the same command again, by us and by real shells. */
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CommandSegment, canonicalCommand, parseCommand, quoteWord } from '../../src/index.ts'

const word = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...' \'"\\$`;&|<>()[]{}*?~!#=^%abc01-_./'), maxLength: 12 }),
  fc.constantFrom(
    '',
    '-',
    '--',
    'HEAD~1',
    'a=b',
    '=a',
    '[',
    ']',
    'if',
    '{',
    '}',
    '!',
    '2',
    '>',
    '/dev/null',
    'Größe ✓',
  ),
)
const segment = fc.record({
  argv: fc.array(word, { maxLength: 4 }).map(args => ['prog', ...args]),
  operator: fc.constantFrom('&&' as const, '||' as const, ';' as const, '|' as const),
  redirects: fc.array(
    fc.constantFrom(
      '>/dev/null' as const,
      '2>/dev/null' as const,
      '2>&1' as const,
      '>&2' as const,
      '</dev/null' as const,
    ),
    { maxLength: 2 },
  ),
})
const segments: fc.Arbitrary<readonly CommandSegment[]> = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map(([first, ...rest]) => [{ ...(first as (typeof rest)[number]), operator: null }, ...rest]) // there is at least one

describe('quoteWord', () => {
  it.each(['a==b', 'long=name=:=x', 'PATH:=x', '=='])('quoteWord quotes %s, in which zsh may expand a second =', word =>
    expect(quoteWord(word)).toBe(`'${word}'`),
  )
  it.each(['a=b', 'a=b=c', '--x=y', 'a:b'])('quoteWord leaves %s unchanged', word => expect(quoteWord(word)).toBe(word))
})

describe('canonicalCommand', () => {
  it.each([
    ['npm test', 'npm test'],
    ['npm   "test"  -- a\\ b', "npm test -- 'a b'"],
    ["echo 'it'\"'\"s", "echo 'it'\\''s'"],
    ['ls&&pwd||a;b|c 2>&1', 'ls && pwd || a; b | c 2>&1'],
    ['git diff HEAD~1 a=b @x/y %h', "git diff 'HEAD~1' a=b @x/y %h"],
    ['pip show a==1', "pip show 'a==1'"],
    ['[ -f "a b" ]', "[ -f 'a b' ]"],
    ['cd sub && ls', 'cd ./sub && ls'],
    ['ls &>/dev/null', 'ls >/dev/null 2>&1'],
    ['echo "" "#a"', "echo '' '#a'"],
  ])('canonicalCommand writes %s as %s', (text, expected) => {
    const parsed = parseCommand(text)
    expect(parsed.provable && canonicalCommand(parsed.segments)).toBe(expected)
  })

  it('the result of canonicalCommand is read as the same segments again, and stays the same', () => {
    fc.assert(
      fc.property(segments, original => {
        const canonical = canonicalCommand(original)
        const parsed = parseCommand(canonical)
        // Words with invisible characters are never provable, so no rule returns them.
        if (!parsed.provable) return expect(canonical).toMatch(/[^ -~]/)
        expect(parsed.segments).toEqual(original)
        expect(canonicalCommand(parsed.segments)).toBe(canonical)
      }),
      { numRuns: 1000 },
    )
  })

  it('canonicalCommand keeps every word in bash and in sh', () => {
    const words = fc
      .sample(word, { numRuns: 3000, seed: 7 })
      .filter(text => !text.includes('\0') && text.isWellFormed())
    const script = `printf '%s\\0' ${words.map(quoteWord).join(' ')}`
    for (const shell of ['/bin/bash', '/bin/sh']) {
      const output = execFileSync(shell, ['-c', script], {
        env: {},
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      expect(output.split('\0').slice(0, -1)).toEqual(words)
    }
  })
})

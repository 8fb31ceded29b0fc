import fc from 'fast-check'
import { expect, test } from 'vitest'
import { highlightShell } from '../../src/text/shell-highlighter.ts'

const colored = (text: string) =>
  highlightShell(text).flatMap(({ text: part, color }) => (color && color !== 'word' ? [[part, color]] : []))

test('`highlightShell` colors programs, operators, strings, variables and comments', () => {
  expect(colored(`FOO=1 npm test -- --env "a b" | tee $HOME/'x y' && rm -rf "$D" # all of it`)).toEqual([
    ['npm', 'name'],
    ['"a b"', 'string'],
    ['|', 'keyword'],
    ['tee', 'name'],
    ['$HOME', 'number'],
    ["'x y'", 'string'],
    ['&&', 'keyword'],
    ['rm', 'name'],
    ['"$D"', 'string'],
    ['# all of it', 'quiet'],
  ])
})

test('`highlightShell` does not color a redirect target as a program, or a “#” inside a word as a comment', () => {
  expect(colored('echo a#b > out\nls')).toEqual([
    ['echo', 'name'],
    ['>', 'keyword'],
    ['\n', 'keyword'],
    ['ls', 'name'],
  ])
})

test('`highlightShell` colors an unclosed string to the end of the text', () => {
  expect(colored('echo "a; rm -rf ~')).toEqual([
    ['echo', 'name'],
    ['"a; rm -rf ~', 'string'],
  ])
})

test('`highlightShell` keeps a short word with a hyphen in one line, and allows a line break in a long word', () => {
  const long = `--${'a-'.repeat(20)}`
  const words = highlightShell(`npm test -- --env=a ${long} plain`).filter(({ color }) => color === 'word')
  expect(words.map(({ text }) => text)).toEqual(['--', '--env=a'])
})

test('`highlightShell` keeps every character of the text', () => {
  const odd = fc.array(fc.constantFrom('a', ' ', '\\', "'", '"', '$', '{', '}', '#', '|', ';', '\n', '\t', '=', '💥'))
  fc.assert(
    fc.property(odd, letters => {
      const text = letters.join('')
      expect(
        highlightShell(text)
          .map(segment => segment.text)
          .join(''),
      ).toBe(text)
    }),
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { highlightShell } from '../src/text/shell-highlighter.ts'

const painted = (text: string) =>
  highlightShell(text).flatMap(({ text: part, color }) => (color ? [[part, color]] : []))

test('what runs, what joins, what is quoted and what is left to the shell are told apart', () => {
  expect(painted(`FOO=1 npm test -- --env "a b" | tee $HOME/'x y' && rm -rf "$D" # all of it`)).toEqual([
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

test('a file that is written to is no command, and a sign inside a word begins no comment', () => {
  expect(painted('echo a#b > out\nls')).toEqual([
    ['echo', 'name'],
    ['>', 'keyword'],
    ['\n', 'keyword'],
    ['ls', 'name'],
  ])
})

test('a quote that is not closed goes to the end', () => {
  expect(painted('echo "a; rm -rf ~')).toEqual([
    ['echo', 'name'],
    ['"a; rm -rf ~', 'string'],
  ])
})

test('no character is lost, whatever the text', () => {
  const odd = fc.array(fc.constantFrom('a', ' ', '\\', "'", '"', '$', '{', '}', '#', '|', ';', '\n', '\t', '=', '💥'))
  fc.assert(
    fc.property(odd, letters => {
      const text = letters.join('')
      expect(
        highlightShell(text)
          .map(piece => piece.text)
          .join(''),
      ).toBe(text)
    }),
  )
})

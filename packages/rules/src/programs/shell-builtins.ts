/** Grammars of small commands, most of which are built into shells: echo, printf, test, date and those that look up a program. */
import { checkPath, quote } from '../files/check-path.ts'
import { flagsOf } from './grammar.ts'
import { type Program, programOf, refuse } from './grammar-check.ts'

const proven = { ok: true, group: 'only-reads', paths: [] } as const

/** The list omits -v, which evaluates its argument, and %n, which assigns to a variable that can be an expression. */
const printf: Program = {
  check([format = '', ...values]) {
    if (format.startsWith('-') || !/^(?:[^%]|%%|%-?\d*(?:\.\d+)?[sdiufxXeEgGcbq])*$/.test(format))
      return refuse('printf is accepted only with a simple format.')
    // If the value for a numeric conversion is not a number, shells evaluate it as an expression.
    if (/%-?\d*(?:\.\d+)?[diufxXeEgG]/.test(format) && !values.every(value => /^[\w.+ -]*$/.test(value)))
      return refuse('printf is accepted only with plain values for its numbers.')
    return proven
  },
}

const fileTests: ReadonlySet<string> = new Set(['-e', '-f', '-d', '-r', '-w', '-x', '-s', '-L', '-h'])
/** Checks `test` with one file. `-v` and comparisons of numbers evaluate their arguments, so they are not accepted. */
function testProgram(end: string | null): Program {
  return {
    check(args, site) {
      const words = end === null ? args : args.at(-1) === end ? args.slice(0, -1) : []
      const [test = '', path = '', ...more] = words[0] === '!' ? words.slice(1) : words
      if (!fileTests.has(test) || more.length > 0) return refuse('Only a test of one file is accepted, such as -f.')
      const found = checkPath(path, site, 'list')
      return found.ok ? { ...proven, paths: [found.path] } : refuse(found.reason)
    },
  }
}

/** `command -v`, `type` and `hash -t` only say where a program is. Other forms of `command` run it. */
function lookUp(options: readonly string[]): Program {
  return {
    check(args) {
      const names = args.filter(arg => !options.includes(arg))
      const hasOption = options.length === 1 ? args[0] === options[0] : true
      if (!hasOption || !names.every(name => /^[\w.+-]+$/.test(name) && !name.startsWith('-')))
        return refuse(`Only the lookup of a program is accepted, not ${quote(args.join(' '))}.`)
      return proven
    },
  }
}

export const shellBuiltins: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['echo', { check: () => proven }],
  ['printf', printf],
  ['test', testProgram(null)],
  ['[', testProgram(']')],
  ['command', lookUp(['-v'])],
  ['type', lookUp(['-a', '-t', '-p', '-P'])],
  [
    'date',
    programOf({
      group: 'only-reads',
      style: 'clusters',
      // The list omits -s, which sets the clock, and -f, which prints lines of a file.
      flags: flagsOf(
        '-u -R -I?=date|hours|minutes|seconds|ns -d=text --utc --iso-8601?=date|hours|minutes|seconds|ns --date=text',
      ),
      operands: { others: 'text', most: 1 },
      // An operand that is not a format sets the clock.
      refuses: ({ operands }) =>
        operands.every(operand => operand.startsWith('+')) ? null : 'date would set the clock.',
    }),
  ],
])

/**
 * Compares the reading of generated shell texts with that of the real bash. A short run is part of the tests;
 * `npm run fuzz:shell -- --count 1000000 --seed 7` runs more.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Random } from '../../../../test/simulation/random.ts'
import { type CommandOperator, type CommandSegment, parseCommand } from '../../src/index.ts'
import { attacks } from './attack-samples.ts'
import { BashComparison, type Mismatch, type ProvenText } from './fuzz/bash-comparison.ts'
import { BashRecorder } from './fuzz/bash-recorder.ts'
import { everydayCommands, programs, RandomCommands } from './fuzz/random-commands.ts'

/** Without a count, as many texts are compared as is possible in a short time. */
const count = Number(process.env.COUNT ?? 1_000_000)
const durationMs = process.env.COUNT ? Number.POSITIVE_INFINITY : 5000
const seed = Number(process.env.SEED ?? 20_261_117)
const batchSize = process.env.COUNT ? 1000 : 200
/** One in this many provable texts is also run with real programs, which takes much longer. */
const executedShare = 100
const replacedPrograms = programs.filter(name => !name.includes('/'))

const collected = JSON.parse(readFileSync(new URL('../data/policy.json', import.meta.url), 'utf8')) as readonly {
  readonly command: string
}[] // the file contains a list of objects with this field

const examples = [...collected.map(({ command }) => command), ...Object.values(attacks).flat(), ...everydayCommands]

interface Figures {
  texts: number
  provable: number
  withQuotes: number
  withOperators: number
  withRedirects: number
  executed: number
  readonly mismatches: Mismatch[]
}

function compare(recorder: BashRecorder): Figures {
  const commands = new RandomCommands(new Random(seed), examples)
  const comparison = new BashComparison(recorder)
  const figures: Figures = {
    texts: 0,
    provable: 0,
    withQuotes: 0,
    withOperators: 0,
    withRedirects: 0,
    executed: 0,
    mismatches: [],
  }
  const endsAt = performance.now() + durationMs
  for (let batch = 0; figures.texts < count && performance.now() < endsAt; batch++) {
    const proven: ProvenText[] = []
    for (let left = Math.min(batchSize, count - figures.texts); left > 0; left--) {
      const text = commands.next()
      figures.texts++
      const parsed = parseCommand(text)
      if (parsed.provable) proven.push({ text, segments: parsed.segments })
    }
    figures.provable += proven.length
    figures.withQuotes += proven.filter(({ text }) => /['"\\]/.test(text)).length
    figures.withOperators += proven.filter(({ segments }) => segments.length > 1).length
    figures.withRedirects += proven.filter(({ segments }) =>
      segments.some(({ redirects }) => redirects.length > 0),
    ).length
    figures.mismatches.push(
      ...comparison.evaluate(proven, {
        locale: batch % 2 === 0 ? 'C' : 'C.UTF-8',
        replaced: batch % 4 === 0 ? [] : replacedPrograms,
      }),
    )
    for (const text of proven.filter((_, index) => (figures.provable - index) % executedShare === 0)) {
      figures.executed++
      figures.mismatches.push(...comparison.execute(text))
    }
    if (figures.mismatches.length > 20) break
    if (batch % 20 === 19)
      console.log(`${figures.texts} texts, ${figures.provable} provable, ${figures.mismatches.length} mismatches`)
  }
  return figures
}

describe('generated shell commands', () => {
  it('generated shell commands that parseCommand calls provable run in bash exactly as parseCommand says', {
    timeout: 4 * 3600_000,
  }, () => {
    const recorder = new BashRecorder()
    onTestFinished(() => recorder.close())
    const { mismatches, ...figures } = compare(recorder)
    if (process.env.COUNT) console.log({ seed, ...figures, mismatches: mismatches.length })
    expect(mismatches.slice(0, 20)).toEqual([])
    expect(figures.provable / figures.texts).toBeGreaterThan(0.2)
    expect(figures.withQuotes / figures.provable).toBeGreaterThan(0.3)
    expect(figures.withOperators / figures.provable).toBeGreaterThan(0.2)
    expect(figures.withRedirects / figures.provable).toBeGreaterThan(0.05)
  })
})

describe('the comparison with bash', () => {
  const segment = (argv: readonly string[], operator: CommandOperator | null = null): CommandSegment => ({
    argv,
    operator,
    redirects: [],
  })
  it.each<[string, CommandSegment[]]>([
    ['npm test', [segment(['npm', 'test', 'a'])]],
    ['npm test', [segment(['npm'])]],
    ['npm test a', [segment(['npm', 'test'])]],
    ["npm 'a b'", [segment(['npm', 'a', 'b'])]],
    ['npm a$x', [segment(['npm', 'a$x'])]],
    ['npm; ls', [segment(['npm'])]],
    ['npm', [segment(['npm']), segment(['ls'], ';')]],
    ['npm $(ls)', [segment(['npm'])]],
    ['npm <(ls)', [segment(['npm', '<(ls)'])]],
    ['npm >/dev/null', [segment(['npm'])]],
    ['npm 2>&1', [segment(['npm'])]],
    ['npm 3</dev/null', [segment(['npm'])]],
    ['npm </dev/null', [segment(['npm'])]],
    ['npm | ls', [segment(['npm']), segment(['ls'], ';')]],
    ['npm & ls', [segment(['npm']), segment(['ls'], '&&')]],
    ['cd sub; ls', [segment(['cd', './nosuch']), segment(['ls'], ';')]],
    ['PATH=x; npm', [segment(['npm'])]],
    ['set -f; npm', [segment(['npm'])]],
    ['npm; exit', [segment(['npm'])]],
    ['printf %n x', [segment(['printf', '%n', 'x'])]],
    ["test -v 'a[$(ls)]'", [segment(['test', '-v', 'a[$(ls)]'])]],
    ['npm "', [segment(['npm'])]],
  ])('the comparison with bash reports a wrong reading of %s', (text, segments) => {
    const recorder = new BashRecorder()
    onTestFinished(() => recorder.close())
    const options = { locale: 'C', replaced: [] }
    expect(new BashComparison(recorder).evaluate([{ text, segments }], options)).not.toEqual([])
  })
  it.each(['npm >P', 'npm 2>../P', 'echo a >sub/P', 'npm <>P'])(
    'the comparison with bash reports that %s writes a file',
    text => {
      const recorder = new BashRecorder()
      onTestFinished(() => recorder.close())
      const comparison = new BashComparison(recorder)
      const options = { locale: 'C', replaced: [] }
      expect(() => comparison.evaluate([{ text, segments: [segment(['npm'])] }], options)).toThrow('has written a file')
    },
  )
})

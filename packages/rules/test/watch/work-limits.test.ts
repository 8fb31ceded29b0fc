/** Tests that no file of a project keeps the gateway busy: neither when it is read nor when its watchers are evaluated. */
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../../test/support/cpu-time.ts'
import { parseRuleFile } from '../../src/rule-file.ts'
import type { WatchFile, WatchPass } from '../../src/watch/watch-pass.ts'
import { WatcherSet } from '../../src/watch/watcher-set.ts'
import { bash, now, watchFile, watchPass } from './watch-kit.ts'

const repeated = (count: number, text: (index: number) => string, between: string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(between)

/** Conditions that are as much work as possible; as many watchers with each as a file may have. */
const hostile: readonly (readonly [string, string, string])[] = [
  ['searches for short texts', 'before', repeated(10, () => 'action.command.contains("aaab")', ' || ')],
  [
    'searches for long texts',
    'before',
    repeated(5, () => `action.command.contains("${'a'.repeat(120)}b${'a'.repeat(120)}")`, ' || '),
  ],
  ['joined commands', 'before', `(${repeated(60, () => 'action.command', ' + ')}).size() == 1`],
  ['joined commands that are searched', 'before', `(${repeated(5, () => 'action.command', ' + ')}).contains("aaab")`],
  [
    'a loop over calls in a loop over calls',
    'before',
    'recent("1h").exists(a, recent("1h").exists(b, a.digest + "x" == b.digest))',
  ],
  ['a loop over all paths', 'before', 'action.paths.exists(p, p.endsWith("x") || p.startsWith(session.folder + "y"))'],
  ['upper case of a command', 'before', 'action.command.upperAscii().lowerAscii().trim() == ""'],
  [
    'a loop over a long list',
    'before',
    `[${repeated(200, index => String(index), ',')}].exists(a, a > 1000 || session.turn > 1000)`,
  ],
  ['comparisons of whole lists', 'before', `${repeated(20, () => 'action.paths == action.paths', ' && ')} && false`],
]

const paths = Array.from({ length: 1000 }, (_, index) => `${'a'.repeat(4000)}${index}`)
const passes: readonly WatchPass[] = [
  bash('a'.repeat(16_384)),
  { tool: 'Edit', input: {}, cwd: '/srv/app', action: { write: paths } },
].map(call =>
  watchPass({
    call,
    recent: Array.from({ length: 100 }, (_, index) => ({
      key: '',
      tool: 'Bash',
      digest: `${'a'.repeat(63)}${index}`,
      at: now,
    })),
  }),
)

/** Returns as many watchers with this condition as a file may have; null if it may have none. */
function fullFile(on: string, when: string): WatchFile | null {
  const watch = Array.from({ length: 200 }, (_, index) => ({ name: `w${index}`, on, when, do: { ask: 'x' } }))
  let [found, refused] = [0, watch.length + 1]
  let file: WatchFile | null = null
  while (refused - found > 1) {
    const middle = (found + refused) >> 1
    try {
      file = watchFile({ watch: watch.slice(0, middle) }, { trusted: false, folder: '/srv/app' })
      found = middle
    } catch {
      refused = middle
    }
  }
  return file
}

describe('the work of watchers is limited', () => {
  it.each(hostile)(
    'a file with the highest number of conditions with %s takes less than 50 ms for a call',
    (_what, on, when) => {
      const file = fullFile(on, when)
      if (file === null)
        return expect(() => watchFile({ watch: [{ name: 'w', on, when, do: { ask: 'x' } }] })).toThrow(/too much work/)
      const set = new WatcherSet([file])
      for (const pass of passes) expect(leastCpuMs(() => set.evaluate(pass))).toBeLessThan(50)
    },
  )
  it('a file of 64 KiB is read in less than 200 ms', () => {
    const when = repeated(60, index => `action.tool == "${index}"`, ' || ')
    const watch = Array.from({ length: 35 }, (_, index) => ({
      name: `w${index}`,
      on: 'before',
      when,
      do: { ask: 'x' },
    }))
    const text = JSON.stringify({ watch })
    expect(text.length).toBeGreaterThan(40_000)
    expect(leastCpuMs(() => parseRuleFile(text, '/srv/app'))).toBeLessThan(200)
  })
  it('a condition with very many or very deep parts is refused', () => {
    const refuse = (when: string) =>
      expect(() => watchFile({ watch: [{ name: 'w', on: 'before', when, do: { ask: 'x' } }] })).toThrow(
        /^line 1, column \d+: watch\[0\]\.when: /,
      )
    refuse(`${'('.repeat(300)}true${')'.repeat(300)}`)
    refuse(`${'!'.repeat(600)}true`)
    refuse(repeated(300, () => '1', '+'))
  })
})

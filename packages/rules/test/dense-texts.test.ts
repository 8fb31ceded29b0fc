/** Tests that a short text with very many parts is not searched to the end, but is still denied or counts as dangerous. */
import type { Rule } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { literalCommands, ProtectedFolder, RuleSet, riskOf } from '../src/index.ts'
import { makeSite } from './support/node-files.ts'
import { contextAt } from './support/rule-context.ts'

const site = makeSite({ 'src/a.ts': '' })
const rules = new RuleSet(
  [{ effect: 'deny', command: 'rm -rf' } as const, { effect: 'allow', tool: 'run_shell' } as const].map(
    (draft, index): Rule => ({
      ...draft,
      scope: { cwd: site.folder },
      id: `rul_${String(index).padStart(20, '0')}` as Rule['id'], // a valid id
      madeBy: 'ada',
      madeAt: 0,
      version: 1,
    }),
  ),
)
const evaluate = (command: string) =>
  rules.evaluate({ tool: 'run_shell', input: { command }, cwd: site.folder }, contextAt(site)).verdict
const riskAt = (command: string) => riskOf({ shell: command, cwd: site.folder }, site)
const many = (count: number, text: (i: number) => string) => Array.from({ length: count }, (_, i) => text(i)).join('')

const dense: readonly (readonly [string, string])[] = [
  ['commands', 'a;'.repeat(15_000)],
  ['different commands', many(5000, i => `a${i};`)],
  ['pipes', 'a|'.repeat(15_000)],
  ['substitutions', '`a` '.repeat(7500)],
  ['quotes', `"'\``.repeat(10_000)],
  ['quoted words', '"a" '.repeat(7500)],
  ['variables', '$a '.repeat(10_000)],
  ['here-documents', '<<a\n'.repeat(7500)],
]

describe('a command of 30,000 characters with very many parts', () => {
  it.each(dense)(
    'a command with very many %s is searched only partly, is not allowed, and counts as dangerous',
    (_, text) => {
      expect(literalCommands(text).isCutShort).toBe(true)
      expect(evaluate(text)).toBe('ask')
      expect(riskAt(text)).toMatchObject({ level: 'dangerous', touches: expect.arrayContaining(['unreadable']) })
    },
  )
  it.each(dense)('a command with very many %s is denied if a command in its first part is denied', (_, text) => {
    expect(evaluate(`rm -r -f x\n${text}`)).toBe('deny')
  })
  it.each(dense)('a command with very many %s is denied if the words of a rule are at its end', (_, text) => {
    expect(evaluate(`${text}\nrm -rf x`)).toBe('deny')
  })
})

describe('a long command with few parts', () => {
  const script = many(600, i => `const value${i} = compute(${i}, 'text ${i}')\n`)
  it('a long command with few parts is searched to the end, even if a here-document in it has very many words', () => {
    const text = `cat > a.ts <<'EOF'\n${script}\nEOF\nrm -r -f x`
    expect(literalCommands(text)).toMatchObject({ isCutShort: false, isComplete: true })
    expect(evaluate(text)).toBe('deny')
  })
  it('a long command with few parts is searched to the end if it is in quotes', () => {
    expect(literalCommands(`node -e "${script}"`).commands[0]?.name).toBe('node')
  })
})

describe('a command with many searches of folders', () => {
  const folder = new ProtectedFolder({ folder: '/home/ada/.holdpoint', home: '/home/ada', realPath: path => path })
  it('a command with many searches of folders is compared with the data folder within 100 ms', () => {
    const text = 'find . ;'.repeat(8000)
    expect(leastCpuMs(() => folder.touchedBy('Bash', { command: text }, ['/srv']))).toBeLessThan(100)
  })
})

describe('a shell command that contains the same command many times', () => {
  it('a shell command that contains the same command many times has the risk of that command', () => {
    expect(riskAt('cat src/a.ts;'.repeat(600))).toEqual(riskAt('cat src/a.ts'))
  })
})

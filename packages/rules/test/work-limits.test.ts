/** Tests that no text keeps the gateway busy: the search for commands, the rules and the risk stop after a limited amount of work. */
import type { Rule } from '@holdpoint/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { literalCommands, RuleSet, riskOf } from '../src/index.ts'
import { makeSite } from './support/node-files.ts'
import { contextAt } from './support/rule-context.ts'

const site = makeSite({ 'src/a.ts': '', ...Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`d/${i}`, ''])) })
const context = contextAt(site)
const ruleOf = (draft: Partial<Rule>, index: number): Rule => ({
  effect: 'deny',
  scope: { cwd: site.folder },
  ...draft,
  id: `rul_${String(index).padStart(20, '0')}` as Rule['id'], // a valid id
  madeBy: 'ada',
  madeAt: 0,
  version: 1,
})
const drafts: readonly Partial<Rule>[] = [
  { command: 'rm -rf' },
  { path: 'private/**' },
  { effect: 'allow', group: 'only-reads' },
]
const rules = new RuleSet(drafts.map(ruleOf))
const call = (command: string) => ({ tool: 'Bash', input: { command }, cwd: site.folder })
const evaluate = (command: string) => rules.evaluate(call(command), context)
const riskAt = (command: string) => riskOf({ shell: command, cwd: site.folder }, site)

const many = (count: number, text: (i: number) => string) => Array.from({ length: count }, (_, i) => text(i)).join('')
const texts: readonly (readonly [string, string])[] = [
  ['variables in many words', `a=1;b=2;${'git $a$b '.repeat(3333)}`],
  ['many values of one variable', `${many(3000, i => `a=${i};`)}${'git $a '.repeat(1000)}`],
  ['many variables in one word', `${many(2000, i => `a${i}=${i};`)}git ${many(2000, i => `$a${i}`)}`],
  ['one variable many times in a word', `a=b;git ${'$a'.repeat(15_000)}`],
  ['lists in braces', `git ${'{a,b} '.repeat(5000)}`],
  ['a long list in braces', `git {${'a,'.repeat(8000)}} {${'b,'.repeat(7000)}} {a,b} {a,b}`],
  ['the wrapper env', 'env '.repeat(7500)],
  ['the wrapper env with different words', `env ${many(5000, i => `a${i} `)}`],
  ['the program of a rule behind an unknown program', `unknown ${'rm a '.repeat(1200)}`],
  ['a text with the program of a rule', `unknown '${'rm a '.repeat(5000)}'`],
  ['patterns for names of programs', many(900, i => `r?${i}*m -rf x;`)],
  ['shells', 'bash -c '.repeat(3750)],
  ['commands of find', 'find -exec '.repeat(2700)],
  ['the wrapper sudo', 'sudo '.repeat(6000)],
  ['the wrapper xargs', 'xargs '.repeat(5000)],
  ['paths behind a wrapper', `sudo ${many(2500, i => `a/b/c/${i} `)}`],
  ['a path with many parts', `sudo cat ${'/a'.repeat(490)} ${many(30, i => `${i}${'/b'.repeat(490)} `)}`],
  ['lists of values', `sudo cat ${many(6000, i => `${i},`)}`],
  ['many small substitutions', many(5000, i => `\`${i}\`;`)],
  ['interpreters and many here-documents', `python3;${many(40, i => `cat <<E${i}\n'a${i}' 'b${i}'\nE${i}\n`)}`],
  ['nested substitutions in many shells', many(40, i => `bash -c '${i}${'$('.repeat(250)}';`)],
  ['changes of the folder', many(60, i => `cd a${i};`)],
  ['redirects', many(4000, i => `a>${i};`)],
  ['the same folder many times', `grep -r x ${'. '.repeat(900)}`],
  ['words', 'a '.repeat(60_000)],
]
/** The limit leaves room for a busy machine, on which CPU time grows too. */
const maxMs = 100

// The first runs compile the code.
beforeAll(() => {
  for (const [, text] of texts) literalCommands(text)
})

describe('a command that takes much work', () => {
  it.each(texts)('a command with %s is searched for commands within 100 ms', (_, text) => {
    expect(leastCpuMs(() => literalCommands(text).mentions(['rm', '-rf']))).toBeLessThan(maxMs)
  })
  it.each(texts)('a command with %s is compared with rules within 100 ms, and is not allowed', (_, text) => {
    expect(leastCpuMs(() => evaluate(text))).toBeLessThan(maxMs)
    expect(evaluate(text).verdict).not.toBe('allow')
  })
  it.each(texts)('a command with %s gets its risk within 100 ms', (_, text) => {
    expect(leastCpuMs(() => riskAt(text))).toBeLessThan(maxMs)
  })
  const tooMuch = new Set(['variables in many words', 'lists in braces', 'the wrapper env', 'shells', 'redirects'])
  it.each(texts.filter(([name]) => tooMuch.has(name)))(
    'a command with %s counts as unreadable and dangerous',
    (_, text) => {
      const { level, touches } = riskAt(text)
      expect(level).toBe('dangerous')
      expect(touches).toContain('unreadable')
    },
  )
  it.each(texts)('a command with %s is denied if it also contains what a rule denies', (_, text) => {
    expect(evaluate(`${text}\nrm -rf x`).verdict).not.toBe('allow')
    if (!text.startsWith('grep')) expect(evaluate(`rm -rf x;${text}`).verdict).toBe('deny')
  })
})

describe('a very long command', () => {
  it('a very long command is compared with rules of every kind within 100 ms', () => {
    const fifty = (draft: (i: number) => Partial<Rule>) => Array.from({ length: 50 }, (_, i) => draft(i))
    const hosts = fifty(i => ({ host: `host${i}.test` }))
    const paths = fifty(i => ({ path: `/never/${i}/**` }))
    const commands = fifty(i => ({ effect: 'ask', command: `program${i} sub` }))
    const set = new RuleSet([...hosts, ...paths, ...commands].map(ruleOf))
    const different = Array.from({ length: 150_000 }, (_, i) => i.toString(36)).join(' ')
    const urls = Array.from({ length: 20_000 }, (_, i) => `http://h${i}.test/`).join(' ')
    const long = `echo ${'a '.repeat(70_000)}`
    for (const text of [long, different, urls, 'a|'.repeat(400_000), '$('.repeat(400_000), '/a/../'.repeat(100_000)])
      expect(leastCpuMs(() => set.evaluate({ ...call(text), tool: 'run_shell' }, context))).toBeLessThan(maxMs)
  })
})

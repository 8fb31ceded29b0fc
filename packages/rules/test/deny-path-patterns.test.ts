/** Tests that a rule that denies a path matches patterns that a shell may replace with the path, and no others. */
import type { Rule, RuleDraft, ToolCall } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { RuleSet } from '../src/index.ts'
import { makeSite } from './support/node-files.ts'
import { bash, contextAt, srvContext, srvRule } from './support/rule-context.ts'

const deny = (draft: Partial<RuleDraft>) => srvRule({ effect: 'deny', scope: {}, ...draft })
const isDenied = (rule: Rule, call: ToolCall) => new RuleSet([rule]).evaluate(call, srvContext).verdict === 'deny'
const missed = (rule: Rule, texts: readonly string[]) => texts.filter(text => !isDenied(rule, bash(text)))
const denied = (rule: Rule, texts: readonly string[]) => texts.filter(text => isDenied(rule, bash(text)))

describe('a rule that denies a folder', () => {
  const rule = deny({ path: '/srv/secret/**' })
  it('a rule that denies a folder matches patterns that may become a path in the folder', () => {
    const texts = [
      'cat secret*/a.txt',
      'cat s?cret/a.txt',
      'cat sec[r]et/a.txt',
      'cat sec[!x]et/a.txt',
      'cat {secret,x}/a.txt',
      'cat sec{ret,x}/a.txt',
      'cat s{a,ecret}/{a,b}.txt',
      'cat /srv/s*/a.txt',
      'cat /s*/secret/a.txt',
      'cat /s*/s*/a.txt',
      'cat */a.txt',
      'cat ./*/a.txt',
      'cat x/../sec*/a.txt',
      'cat secret/*',
      'cat secret/*.txt',
      'cat SECRET*/a.txt',
      'rm -r s*',
      'rm -r *',
      'cat -- *',
      'cat **/a.txt',
      'cat s**t/x/y/a.txt',
      'cd /; cat s*/sec*/a.txt',
      'cat /srv/**/deep/a.txt',
      'grep -fsec*/a.txt x',
      'tool --file=sec*/a.txt',
      "find . -path 'sec*/a.txt'",
      "bash -c 'cat sec*/a.txt'",
      'cat "$PWD"/sec*/a.txt',
    ]
    expect(missed(rule, texts)).toEqual([])
  })
  it('a rule that denies a folder matches no pattern that cannot become a path in the folder', () => {
    const texts = [
      'cat public*/a.txt',
      'cat src/*.ts',
      'cat x/sec*/a.txt',
      'cat s?/a.txt',
      'cat *.txt',
      'cat .*',
      'cat {a,b}/c.txt',
      'find . -name "*.ts"',
      'rg -n "import .* from" src',
      "grep '.*' a.txt",
      '[ -f a.txt ] && cat a.txt',
      'echo $((2 * 3))',
      'case $x in *) ls;; esac',
      'ls /*/secretary/x',
      'jq .[] a.json',
    ]
    expect(denied(rule, texts)).toEqual([])
  })
  it('a rule that denies a folder matches a pattern of the tool Glob that may become a path in the folder', () => {
    const glob = (pattern: string): ToolCall => ({ tool: 'Glob', input: { pattern }, cwd: '/srv' })
    expect(isDenied(rule, glob('sec*/a.txt'))).toBe(true)
    expect(isDenied(rule, glob('/srv/s?cret/*'))).toBe(true)
    expect(isDenied(rule, glob('src/*'))).toBe(false)
  })
  it('a rule that denies a folder does not match a file tool whose path only looks like a pattern, because file tools expand nothing', () => {
    expect(isDenied(rule, { tool: 'Read', input: {}, cwd: '/srv', action: { read: ['sec*/a.txt'] } })).toBe(false)
  })
})

describe('a rule that denies a path, and variables', () => {
  const folder = deny({ path: '/srv/secret/**' })
  const file = deny({ path: '/srv/config/prod.yml' })
  it('a rule that denies a path matches the path after a variable or a substitution that stands for a folder', () => {
    const starts = [
      '$(pwd)',
      '"$(pwd)"',
      '`pwd`',
      '"$(git rev-parse --show-toplevel)"',
      '$ROOT',
      `${'$'}{ROOT:-.}`,
      '~+',
      '$OLDPWD',
    ]
    expect(
      missed(
        folder,
        starts.flatMap(start => [`cat ${start}/secret/a.txt`, `cd ${start}/secret && cat a.txt`]),
      ),
    ).toEqual([])
    expect(
      missed(
        file,
        starts.flatMap(start => [`cat ${start}/config/prod.yml`, `cd ${start}/config; cat prod.yml`]),
      ),
    ).toEqual([])
    expect(isDenied(folder, { ...bash('cat "$(git rev-parse --show-toplevel)/secret/a.txt"'), cwd: '/srv/src' })).toBe(
      true,
    )
  })
  it('a rule that denies a path matches a path with a variable inside', () => {
    const texts = [
      'for e in dev prod; do cat config/$e.yml; done',
      'E=prod; cat config/$E.yml',
      'E=prod; cat < config/$E.yml',
      'E=prod.yml; cat config/$E',
      'D=config; F=prod.yml; cat "$D/$F"',
      `cat "config/${'$'}{E:-prod}.yml"`,
      'cat config/$(cat name).yml',
      'cat config/prod.$EXT',
      'cd config && cat prod.$EXT',
    ]
    expect(missed(file, texts)).toEqual([])
  })
  it('a rule that denies a path matches no path with a variable that cannot become this path', () => {
    const texts = [
      'cat $ROOT/public/a.txt',
      'for f in a b; do cat src/$f.ts; done',
      'cat "$FILE"',
      'cat "$DIR/a.txt"',
      'cat config/dev.$EXT',
      'cat "src/$NAME/prod.yml"',
      'echo "$(date) done" > log.txt',
      'node x.js "$A" "$B"',
    ]
    expect(denied(folder, texts)).toEqual([])
    expect(denied(file, texts)).toEqual([])
  })
})

describe('a rule that denies a file', () => {
  const rule = deny({ path: '/srv/a/.env' })
  it('a rule that denies a file matches patterns that may become its path, and no others', () => {
    expect(missed(rule, ['cat a/.e*', 'cat */.env', 'cat a/.*', 'cat a/.[e]nv', 'cat ?/.en{v,w}'])).toEqual([])
    expect(denied(rule, ['cat a/*', 'cat .e*', 'cat a/.env*/x', 'cat a/b*', 'ls a*'])).toEqual([])
  })
  it('a rule that denies a command with a path matches a pattern that may become the path', () => {
    const both = deny({ command: 'cat', path: '/srv/a/.env' })
    expect(isDenied(both, bash('cat a/.e*'))).toBe(true)
    expect(isDenied(both, bash('head a/.e*'))).toBe(false)
    expect(isDenied(both, bash('cat a/b*'))).toBe(false)
  })
})

describe('a rule that denies a path, in a folder with links', () => {
  const site = makeSite({ 'real/secret/a.txt': '', link: '->real' })
  const isDeniedAt = (path: string, command: string) =>
    new RuleSet([deny({ path, scope: { cwd: site.folder } })]).evaluate(bash(command, site.folder), contextAt(site))
      .verdict === 'deny'
  it('in a folder with links, a rule that denies a path matches a pattern after a link', () => {
    expect(isDeniedAt('real/secret/**', 'cat link/s*/a.txt')).toBe(true)
    expect(isDeniedAt('real/secret/**', 'cat link/x*/a.txt')).toBe(false)
  })
  it('in a folder with links, a rule that denies a path through a link matches a pattern for the real path', () => {
    for (const command of ['cat real/s*/a.txt', 'cat r*/secret/a.txt', 'cat r*/s*/*'])
      expect(isDeniedAt('link/secret/**', command), command).toBe(true)
    expect(isDeniedAt('link/secret/**', 'cat real/x*')).toBe(false)
  })
})

describe('a call with very many patterns', () => {
  const rules = Array.from({ length: 1000 }, (_, i) => deny({ path: `/srv/d${i % 50}/f${i}/**` }))
  const set = new RuleSet([...rules, srvRule({ tool: 'Bash' })])
  it.each([
    ['patterns', Array.from({ length: 900 }, (_, i) => `*${i}/x`).join(' ')],
    ['stars in one pattern', `${'*a'.repeat(120)}/${'*/'.repeat(200)}x`],
    ['two stars in one pattern', '**/'.repeat(400)],
    ['lists in braces', '{a,b}{a,b}{a,b}{a,b}{a,b}* '.repeat(400)],
    [
      'patterns in many folders',
      `${Array.from({ length: 30 }, (_, i) => `cd a${i};`).join('')} cat ${'x* y* z* '.repeat(300)}`,
    ],
  ])('a call with very many %s is compared within 100 ms, and is not allowed', (_, text) => {
    const evaluate = () => set.evaluate(bash(`cat ${text}`), srvContext)
    expect(leastCpuMs(evaluate)).toBeLessThan(100)
    expect(evaluate().verdict).not.toBe('allow')
  })
})

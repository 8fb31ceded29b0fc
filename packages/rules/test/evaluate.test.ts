/** Standing answers: exact or not at all, deny before ask before allow, and nothing kept that is not understood. */
import { readFileSync } from 'node:fs'
import { Fault, type Rule, type RuleDraft, RuleDraft as RuleDraftSchema, type SessionId } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluateRules, type RuleContext, type RuleSubject, validateRule } from '../src/index.ts'

const session = 'ses_00000000000000000000' as SessionId // twenty letters of the alphabet
const other = 'ses_11111111111111111111' as SessionId // likewise
const situation: RuleContext = { driver: 'claude', session, now: 1000 }
const bash = (command: unknown, cwd = '/srv'): RuleSubject => ({
  tool: 'Bash',
  input: { command } as RuleSubject['input'],
  cwd,
}) // what an agent may send
let made = 0
function rule(draft: Partial<RuleDraft>): Rule {
  const id = `rul_${String(made++).padStart(20, '0')}` as Rule['id'] // twenty letters of the alphabet
  return { effect: 'allow', tool: 'Bash', scope: { cwd: '/srv' }, ...draft, id, madeBy: 'ada', madeAt: 0, version: 1 }
}
const verdict = (rules: readonly Rule[], ask: RuleSubject, at: Partial<RuleContext> = {}) =>
  evaluateRules(rules, ask, { ...situation, ...at }).verdict

describe('a command', () => {
  const allow = [rule({ command: 'npm test' })]
  it('is allowed where it is that command', () => expect(verdict(allow, bash('npm test'))).toBe('allow'))
  it.each([
    'npm  test',
    ' npm test',
    'npm test ',
    'npm test\n',
    'npm test #',
    'NPM TEST',
    'npm',
    'npm testing',
    'npm test && ls',
    'npm\u00a0test',
    'npm te\u200bst',
    'nрm test',
    '"npm" test',
    '',
  ])('is asked where it is %j', command => expect(verdict(allow, bash(command))).toBe('ask'))
  it.each([undefined, null, 1, true, ['npm test'], ['npm', 'test'], { toString: 'npm test' }])(
    'is asked where it is no text: %j',
    command => expect(verdict(allow, bash(command))).toBe('ask'),
  )
  it('is asked where the input says it by another name', () => {
    expect(verdict(allow, { tool: 'Bash', input: { cmd: 'npm test' }, cwd: '/srv' })).toBe('ask')
  })
  const beside: readonly [object, 'allow' | 'ask'][] = [
    [{ description: 'Runs the tests' }, 'allow'],
    [{ description: 'Runs the tests', timeout: 60_000 }, 'allow'],
    [{ description: { command: 'rm' } }, 'ask'],
    [{ timeout: '1; rm -rf /' }, 'ask'],
    [{ timeout: null }, 'ask'],
    [{ dangerouslyDisableSandbox: true }, 'ask'],
    [{ dangerouslyDisableSandbox: false }, 'ask'],
    [{ run_in_background: true }, 'ask'],
    [{ env: { PATH: '/tmp' } }, 'ask'],
    [{ cwd: '/' }, 'ask'],
    [{ toString: 'x' }, 'ask'],
    [JSON.parse('{"__proto__": "x"}'), 'ask'],
  ]
  it.each(beside)('with %j beside it: %s', (more, wanted) => {
    const input = { ...bash('npm test').input }
    for (const [name, value] of Object.entries(more)) Object.defineProperty(input, name, { value, enumerable: true })
    expect(verdict(allow, { tool: 'Bash', input, cwd: '/srv' })).toBe(wanted)
    expect(verdict([rule({ effect: 'deny', command: 'npm test' })], { tool: 'Bash', input, cwd: '/srv' })).toBe('deny')
  })
  it('is asked in another folder, and by a rule that was kept without one', () => {
    expect(verdict(allow, bash('npm test', '/elsewhere'))).toBe('ask')
    expect(verdict([rule({ command: 'npm test', scope: {} })], bash('npm test'))).toBe('ask')
  })

  const corpus = JSON.parse(readFileSync(new URL('./data/policy.json', import.meta.url), 'utf8')) as readonly {
    readonly rule: string
    readonly command: string
  }[] // the file's own shape
  it('of the corpus is never allowed by the rule that it was made against', () => {
    expect(corpus.length).toBeGreaterThan(60)
    const allowed = corpus.filter(
      ({ rule: command, command: asked }) => verdict([rule({ command })], bash(asked)) === 'allow',
    )
    expect(allowed).toEqual([])
  })
})

describe('a path', () => {
  const allow = [rule({ tool: 'Read', path: '/srv/a.txt', scope: {} })]
  const read = (file_path: string, more: object = {}): RuleSubject => ({
    tool: 'Read',
    input: { file_path, ...more },
    cwd: '/srv',
  })
  it('is allowed where it is that path', () => {
    expect(verdict(allow, read('/srv/a.txt'))).toBe('allow')
    expect(verdict(allow, read('/srv/a.txt', { offset: 1, limit: 5 }))).toBe('allow')
  })
  it('is asked where more is said of it', () => expect(verdict(allow, read('/srv/a.txt', { mode: 'w' }))).toBe('ask'))
  it('is never allowed to be written: what is written was not seen', () => {
    for (const tool of ['Write', 'Edit', 'constructor'])
      expect(verdict([rule({ tool, path: '/srv/a.txt' })], { ...read('/srv/a.txt'), tool })).toBe('ask')
  })
  it.each(['/srv/../srv/a.txt', '/srv//a.txt', 'a.txt', '/srv/A.txt', '/srv/a.txt/', '/srv/a.txt.', '/srv/a.txt\0'])(
    'is asked where it is %j',
    path => expect(verdict(allow, read(path))).toBe('ask'),
  )
})

describe('a tool', () => {
  const rules = [rule({ effect: 'deny', tool: 'Bash' }), rule({ tool: 'Bash', command: 'x' })]
  it.each([
    'Bash ',
    ' Bash',
    'bash',
    'BASH',
    'mcp__x__Bash',
    'Bash\u200b',
    '__proto__',
    'constructor',
    'toString',
    'B'.repeat(10_240),
    '',
  ])('named %j is met by no rule of another', tool =>
    expect(verdict(rules, { tool, input: { command: 'x' }, cwd: '/srv' })).toBe('ask'),
  )
  it('of any other name is met by no rule of this one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), tool => {
        fc.pre(tool !== 'Bash')
        expect(verdict(rules, { tool, input: { command: 'x' }, cwd: '/srv' })).toBe('ask')
      }),
    )
  })
  it('named like what every object has is met by its own rule only', () => {
    const own = [rule({ effect: 'deny', tool: 'constructor' })]
    expect(verdict(own, { tool: 'constructor', input: {}, cwd: '/srv' })).toBe('deny')
    expect(verdict(own, bash('x'))).toBe('ask')
  })
})

describe('several rules', () => {
  it('deny before ask before allow, in any order', () => {
    const effects = fc.array(fc.constantFrom('allow', 'ask', 'deny'), { maxLength: 6 })
    fc.assert(
      fc.property(effects, list => {
        const rules = list.map(effect => rule({ effect, command: 'ls' }))
        const wanted = list.includes('deny')
          ? 'deny'
          : list.includes('ask') || !list.includes('allow')
            ? 'ask'
            : 'allow'
        expect(verdict(rules, bash('ls'))).toBe(wanted)
      }),
    )
  })
  it('that do not match change nothing', () => {
    expect(verdict([rule({ effect: 'deny', command: 'rm' }), rule({ command: 'ls' })], bash('ls'))).toBe('allow')
  })
  it('name the one that decided, and why', () => {
    const [deny, allow] = [rule({ effect: 'deny', note: 'never here' }), rule({ command: 'ls' })]
    expect(evaluateRules([allow, deny], bash('ls'), situation)).toEqual({
      verdict: 'deny',
      rule: deny.id,
      reason: 'never here',
    })
    expect(evaluateRules([allow], bash('ls'), situation)).toEqual({
      verdict: 'allow',
      rule: allow.id,
      reason: 'allow Bash ls',
    })
    expect(evaluateRules([], bash('ls'), situation)).toEqual({ verdict: 'ask', reason: 'no rule matches' })
  })
})

describe('a scope', () => {
  const rows: readonly [string, RuleDraft['scope'], RuleSubject, Partial<RuleContext>, boolean][] = [
    ['of this driver', { driver: 'claude', session }, bash('ls'), {}, true],
    ['of another driver', { driver: 'codex', session }, bash('ls'), {}, false],
    ['of a driver, wherever it is', { driver: 'claude' }, bash('ls'), {}, false],
    ['of this session', { session }, bash('ls'), {}, true],
    ['of another session', { session: other }, bash('ls'), {}, false],
    ['of a session, asked outside of any', { session }, bash('ls'), { session: null }, false],
    ['of this folder', { cwd: '/srv' }, bash('ls'), {}, true],
    ['of a folder above', { cwd: '/' }, bash('ls'), {}, false],
    ['of a folder below', { cwd: '/srv/sub' }, bash('ls'), {}, false],
    ['of this folder, spelled otherwise', { cwd: '/srv/' }, bash('ls'), {}, false],
    ['of all three', { driver: 'claude', cwd: '/srv', session }, bash('ls'), {}, true],
    ['of two that hold and one that does not', { driver: 'claude', cwd: '/x', session }, bash('ls'), {}, false],
    ['of nothing', {}, bash('ls'), {}, false],
  ]
  it.each(rows)('%s', (_name, scope, ask, at, matches) => {
    expect(verdict([rule({ command: 'ls', ...(scope ? { scope } : {}) })], ask, at)).toBe(matches ? 'allow' : 'ask')
  })
})

describe('an expiry', () => {
  const allow = [rule({ command: 'ls', expiresAt: 1000 })]
  it.each([
    [999, 'allow'],
    [1000, 'ask'],
    [1001, 'ask'],
  ])('at %i: %s', (now, wanted) => expect(verdict(allow, bash('ls'), { now })).toBe(wanted))
})

describe('admit', () => {
  const refused: readonly [string, RuleDraft][] = [
    ['a condition', { effect: 'deny', tool: 'Bash', when: 'true' }],
    ['a host', { effect: 'deny', tool: 'WebFetch', host: 'a.b' }],
    ['a number of uses', { effect: 'deny', tool: 'Bash', usesLeft: 1 }],
    ['a grammar', { effect: 'deny', tool: 'Bash', command: 'ls', args: 'grammar' }],
    ['an allow of a whole tool', { effect: 'allow', tool: 'Bash' }],
    ['an allow of a whole tool in one folder', { effect: 'allow', tool: 'Bash', scope: { cwd: '/srv' } }],
    ['an allow of a command anywhere', { effect: 'allow', tool: 'Bash', command: 'ls' }],
    [
      'an allow of a command anywhere, by one driver',
      { effect: 'allow', tool: 'Bash', command: 'ls', scope: { driver: 'claude' } },
    ],
    ['an allow to write a file', { effect: 'allow', tool: 'Write', path: '/a', scope: { cwd: '/srv' } }],
    ['an allow to edit a file', { effect: 'allow', tool: 'Edit', path: '/a', scope: { cwd: '/srv' } }],
    ['an allow of a path that depends on the folder', { effect: 'allow', tool: 'Read', path: 'a' }],
    [
      'an allow of a command and a path',
      { effect: 'allow', tool: 'Read', command: 'ls', path: '/a', scope: { cwd: '/srv' } },
    ],
  ]
  it.each(refused)('refuses %s', (_name, draft) => {
    expect(() => validateRule(draft)).toThrow(Fault)
    expect(() => validateRule(draft)).toThrow(expect.objectContaining({ code: 'unsupported' }))
  })
  it.each<RuleDraft>([
    { effect: 'allow', tool: 'Bash', command: 'ls', scope: { session } },
    { effect: 'allow', tool: 'Bash', command: 'ls', args: 'exact', scope: { cwd: '/srv' } },
    { effect: 'allow', tool: 'Read', path: '/a' },
    { effect: 'allow', tool: 'Read', path: 'a', scope: { cwd: '/srv' } },
    { effect: 'deny', tool: 'Write', path: '/a' },
    { effect: 'ask', tool: 'Bash', command: 'ls' },
    { effect: 'deny', tool: 'Bash' },
    { effect: 'ask', tool: 'Bash', scope: { driver: 'claude' }, expiresAt: 5, note: 'n' },
  ])('keeps %j as it is', draft => expect(validateRule(draft)).toEqual(draft))
  it('understands every member that a rule may have, or refuses it', () => {
    expect(Object.keys(RuleDraftSchema.shape)).toEqual([
      'effect',
      'tool',
      'command',
      'args',
      'path',
      'host',
      'when',
      'scope',
      'expiresAt',
      'usesLeft',
      'needs',
      'note',
    ])
  })
})

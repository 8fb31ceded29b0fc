/** Rules match exactly or not at all, deny beats ask beats allow, and unsupported rules are refused. */
import { readFileSync } from 'node:fs'
import { Fault, type Rule, type RuleDraft, RuleDraft as RuleDraftSchema, type SessionId } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluateRules, type RuleContext, type RuleSubject, validateRule } from '../src/index.ts'

const session = 'ses_00000000000000000000' as SessionId // a valid id
const otherSession = 'ses_11111111111111111111' as SessionId // a valid id
const builtIn = { protectedFolder: null, cwd: '/srv' }
const context: RuleContext = { driver: 'claude', session, folder: '/srv', now: 1000, builtIn }
const bash = (command: unknown, cwd = '/srv'): RuleSubject => ({
  tool: 'Bash',
  input: { command } as RuleSubject['input'],
  cwd,
}) // an agent can send any JSON value, so tests may too
let ruleCount = 0
function rule(draft: Partial<RuleDraft>): Rule {
  const id = `rul_${String(ruleCount++).padStart(20, '0')}` as Rule['id'] // a valid id
  return { effect: 'allow', tool: 'Bash', scope: { cwd: '/srv' }, ...draft, id, madeBy: 'ada', madeAt: 0, version: 1 }
}
const verdict = (rules: readonly Rule[], ask: RuleSubject, change: Partial<RuleContext> = {}) =>
  evaluateRules(rules, ask, { ...context, ...change }).verdict

describe('an allow rule with a command', () => {
  const allow = [rule({ command: 'npm test' })]
  it('allows exactly that command', () => expect(verdict(allow, bash('npm test'))).toBe('allow'))
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
  ])('does not allow %j', command => expect(verdict(allow, bash(command))).toBe('ask'))
  it.each([undefined, null, 1, true, ['npm test'], ['npm', 'test'], { toString: 'npm test' }])(
    'does not allow a command that is not a string: %j',
    command => expect(verdict(allow, bash(command))).toBe('ask'),
  )
  it('does not allow the same text under another field name', () => {
    expect(verdict(allow, { tool: 'Bash', input: { cmd: 'npm test' }, cwd: '/srv' })).toBe('ask')
  })
  const additionalFields: readonly [object, 'allow' | 'ask'][] = [
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
  it.each(additionalFields)('and the additional input fields %j give the verdict %s', (more, expected) => {
    const input = { ...bash('npm test').input }
    for (const [name, value] of Object.entries(more)) Object.defineProperty(input, name, { value, enumerable: true })
    expect(verdict(allow, { tool: 'Bash', input, cwd: '/srv' })).toBe(expected)
    expect(verdict([rule({ effect: 'deny', command: 'npm test' })], { tool: 'Bash', input, cwd: '/srv' })).toBe('deny')
  })
  it('does not match in another folder, or if the stored rule has no folder', () => {
    expect(verdict(allow, bash('npm test', '/elsewhere'))).toBe('ask')
    expect(verdict([rule({ command: 'npm test', scope: {} })], bash('npm test'))).toBe('ask')
  })

  const attacks = JSON.parse(readFileSync(new URL('./data/policy.json', import.meta.url), 'utf8')) as readonly {
    readonly rule: string
    readonly command: string
  }[] // the file contains a list of objects with these fields
  it('allows none of the commands in the collection of bypass attempts', () => {
    expect(attacks.length).toBeGreaterThan(60)
    const allowed = attacks.filter(
      ({ rule: command, command: asked }) => verdict([rule({ command })], bash(asked)) === 'allow',
    )
    expect(allowed).toEqual([])
  })
})

describe('an allow rule with a path', () => {
  const allow = [rule({ tool: 'Read', path: '/srv/a.txt', scope: {} })]
  const read = (file_path: string, more: object = {}): RuleSubject => ({
    tool: 'Read',
    input: { file_path, ...more },
    cwd: '/srv',
  })
  it('allows reading exactly that path', () => {
    expect(verdict(allow, read('/srv/a.txt'))).toBe('allow')
    expect(verdict(allow, read('/srv/a.txt', { offset: 1, limit: 5 }))).toBe('allow')
  })
  it('does not match if the input has other fields', () =>
    expect(verdict(allow, read('/srv/a.txt', { mode: 'w' }))).toBe('ask'))
  it('never allows writing, because nobody has seen the content', () => {
    for (const tool of ['Write', 'Edit', 'constructor'])
      expect(verdict([rule({ tool, path: '/srv/a.txt' })], { ...read('/srv/a.txt'), tool })).toBe('ask')
  })
  it.each(['/srv/../srv/a.txt', '/srv//a.txt', 'a.txt', '/srv/A.txt', '/srv/a.txt/', '/srv/a.txt.', '/srv/a.txt\0'])(
    'does not allow %j',
    path => expect(verdict(allow, read(path))).toBe('ask'),
  )
})

describe('a rule for a tool', () => {
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
  ])('does not match the tool %j', tool =>
    expect(verdict(rules, { tool, input: { command: 'x' }, cwd: '/srv' })).toBe('ask'),
  )
  it('does not match a tool with any other name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), tool => {
        fc.pre(tool !== 'Bash')
        expect(verdict(rules, { tool, input: { command: 'x' }, cwd: '/srv' })).toBe('ask')
      }),
    )
  })
  it('whose name is that of an inherited property matches only that tool', () => {
    const rules = [rule({ effect: 'deny', tool: 'constructor' })]
    expect(verdict(rules, { tool: 'constructor', input: {}, cwd: '/srv' })).toBe('deny')
    expect(verdict(rules, bash('x'))).toBe('ask')
  })
})

describe('evaluateRules with several rules', () => {
  it('lets deny beat ask and ask beat allow, in any order', () => {
    const effects = fc.array(fc.constantFrom('allow', 'ask', 'deny'), { maxLength: 6 })
    fc.assert(
      fc.property(effects, list => {
        const rules = list.map(effect => rule({ effect, command: 'ls' }))
        const expected = list.includes('deny')
          ? 'deny'
          : list.includes('ask') || !list.includes('allow')
            ? 'ask'
            : 'allow'
        expect(verdict(rules, bash('ls'))).toBe(expected)
      }),
    )
  })
  it('ignores rules that do not match', () => {
    expect(verdict([rule({ effect: 'deny', command: 'rm' }), rule({ command: 'ls' })], bash('ls'))).toBe('allow')
  })
  it('returns the id and the reason of the rule that decided', () => {
    const [deny, allow] = [rule({ effect: 'deny', note: 'never here' }), rule({ command: 'ls' })]
    expect(evaluateRules([allow, deny], bash('ls'), context)).toEqual({
      verdict: 'deny',
      rule: deny.id,
      reason: 'never here',
    })
    expect(evaluateRules([allow], bash('ls'), context)).toEqual({
      verdict: 'allow',
      rule: allow.id,
      reason: 'allow Bash ls',
    })
    expect(evaluateRules([], bash('ls'), context)).toEqual({ verdict: 'ask', reason: 'no rule matches' })
  })
})

describe('a rule with a scope', () => {
  const rows: readonly [string, RuleDraft['scope'], RuleSubject, Partial<RuleContext>, boolean][] = [
    ['matches if the driver and the session are the same', { driver: 'claude', session }, bash('ls'), {}, true],
    ['does not match for another driver', { driver: 'codex', session }, bash('ls'), {}, false],
    ['does not match if it allows and its scope is only a driver', { driver: 'claude' }, bash('ls'), {}, false],
    ['matches in the same session', { session }, bash('ls'), {}, true],
    ['does not match in another session', { session: otherSession }, bash('ls'), {}, false],
    ['does not match outside a session', { session }, bash('ls'), { session: null }, false],
    ['matches in the same folder', { cwd: '/srv' }, bash('ls'), {}, true],
    ['does not match in a subfolder of its folder', { cwd: '/' }, bash('ls'), {}, false],
    ['does not match in the parent of its folder', { cwd: '/srv/sub' }, bash('ls'), {}, false],
    ['does not match if the same folder is spelled differently', { cwd: '/srv/' }, bash('ls'), {}, false],
    [
      'matches if the driver, the folder and the session are the same',
      { driver: 'claude', cwd: '/srv', session },
      bash('ls'),
      {},
      true,
    ],
    [
      'does not match if the driver and the session are the same but the folder differs',
      { driver: 'claude', cwd: '/x', session },
      bash('ls'),
      {},
      false,
    ],
    ['does not match if it allows and its scope is empty', {}, bash('ls'), {}, false],
    [
      'F18: does not match if only the agent claims to run in that folder',
      { cwd: '/srv' },
      bash('ls'),
      { folder: '/home/evil' },
      false,
    ],
    [
      'F18: does not match if the gateway does not know where the session runs',
      { cwd: '/srv' },
      bash('ls'),
      { folder: null },
      false,
    ],
    [
      'F18: does not match if the agent claims to run in another folder',
      { cwd: '/srv' },
      bash('ls', '/other'),
      {},
      false,
    ],
    ['F18: does not match if the folder is empty', { cwd: '' }, bash('ls', ''), { folder: '' }, false],
    ['F18: does not match if the folder is relative', { cwd: '.' }, bash('ls', '.'), { folder: '.' }, false],
  ]
  it.each(rows)('%s', (_name, scope, ask, change, matches) => {
    expect(verdict([rule({ command: 'ls', ...(scope ? { scope } : {}) })], ask, change)).toBe(matches ? 'allow' : 'ask')
  })
})

describe.each(['deny', 'ask'] as const)('F18: a rule with a folder and the effect %s', effect => {
  // A deny beats the allow for the session, and so does an ask.
  const rules = [rule({ command: 'ls', scope: { session } }), rule({ effect, command: 'ls', scope: { cwd: '/srv' } })]
  it('matches if the session runs in that folder or the agent claims so, and not otherwise', () => {
    expect(verdict(rules, bash('ls', '/other'))).toBe(effect)
    expect(verdict(rules, bash('ls'), { folder: '/other' })).toBe(effect)
    expect(verdict(rules, bash('ls', '/other'), { folder: null })).toBe('allow')
  })
})

describe('a rule that expires at time 1000', () => {
  const allow = [rule({ command: 'ls', expiresAt: 1000 })]
  it.each([
    [999, 'allow'],
    [1000, 'ask'],
    [1001, 'ask'],
  ])('evaluated at time %i gives the verdict %s', (now, expected) =>
    expect(verdict(allow, bash('ls'), { now })).toBe(expected),
  )
})

describe('validateRule', () => {
  const refused: readonly [string, RuleDraft][] = [
    ['a rule with a condition', { effect: 'deny', tool: 'Bash', when: 'true' }],
    ['a rule with a host', { effect: 'deny', tool: 'WebFetch', host: 'a.b' }],
    ['a rule with a limited number of uses', { effect: 'deny', tool: 'Bash', usesLeft: 1 }],
    ['a rule whose `args` is "grammar"', { effect: 'deny', tool: 'Bash', command: 'ls', args: 'grammar' }],
    ['an allow rule for every use of a tool', { effect: 'allow', tool: 'Bash' }],
    ['an allow rule for every use of a tool in one folder', { effect: 'allow', tool: 'Bash', scope: { cwd: '/srv' } }],
    ['an allow rule for a command in every folder', { effect: 'allow', tool: 'Bash', command: 'ls' }],
    [
      'an allow rule for a command in every folder of one driver',
      { effect: 'allow', tool: 'Bash', command: 'ls', scope: { driver: 'claude' } },
    ],
    ['an allow rule for writing a file', { effect: 'allow', tool: 'Write', path: '/a', scope: { cwd: '/srv' } }],
    ['an allow rule for editing a file', { effect: 'allow', tool: 'Edit', path: '/a', scope: { cwd: '/srv' } }],
    ['an allow rule for a relative path', { effect: 'allow', tool: 'Read', path: 'a' }],
    ...['', '.', 'srv', '~', './srv'].map((cwd): [string, RuleDraft] => [
      `F18: an allow rule with the folder ${JSON.stringify(cwd)}`,
      { effect: 'allow', tool: 'Bash', command: 'ls', scope: { cwd } },
    ]),
    ['F18: a deny rule with a relative folder', { effect: 'deny', tool: 'Bash', scope: { cwd: '.' } }],
    [
      'an allow rule for both a command and a path',
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
  ])('returns %j unchanged', draft => expect(validateRule(draft)).toEqual(draft))
  it('validateRule is tested with every field of the rule schema', () => {
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

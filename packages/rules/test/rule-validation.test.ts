/** Tests which rules can be used: a rule names one thing, an allow rule is narrow, and its limits make sense. */
import { Fault, type RuleDraft, RuleDraft as RuleDraftSchema, type SessionId } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { ruleProblem, validateRule } from '../src/index.ts'
import { broadAllowProblem } from '../src/rule-validation.ts'

const session = 'ses_00000000000000000000' as SessionId // a valid id
const scope = { cwd: '/srv' }
const allow = (draft: Partial<RuleDraft>): RuleDraft => ({ effect: 'allow', scope, ...draft })
const deny = (draft: Partial<RuleDraft>): RuleDraft => ({ effect: 'deny', ...draft })
const restricting = ['deny', 'ask'] as const

/** Rules that are refused, each with a part of the reason. */
const refused: readonly (readonly [reason: RegExp, drafts: readonly RuleDraft[]])[] = [
  [/"when" are not supported/, [deny({ tool: 'Bash', when: 'true' })]],
  [
    /must be the absolute path/,
    ['', '.', 'srv', '~', './srv', 'c:', 'c:x', '1:/x', ':/x', '\\srv'].flatMap(cwd => [
      allow({ tool: 'Bash', command: 'ls', scope: { cwd } }),
      deny({ tool: 'Bash', scope: { cwd } }),
    ]),
  ],
  [/ends with a turn must name the session/, [deny({ command: 'ls', until: 'turn' })]],
  [/ends with a session must name the session/, [allow({ command: 'ls', until: 'session' })]],
  [
    /rule that denies has a message/,
    [allow({ command: 'ls', message: 'x' }), { effect: 'ask', command: 'ls', message: 'x' }],
  ],
  [/Only an allow rule can have a number of uses/, restricting.map(effect => ({ effect, tool: 'Bash', usesLeft: 1 }))],
  [/Use only one of command, host\.$/, [deny({ host: 'a.b', command: 'ls' })]],
  [/Use only one of command, path\.$/, [allow({ tool: 'Read', command: 'ls', path: '/a' })]],
  [/Use only one of group, mcp\.$/, [allow({ group: 'only-reads', mcp: { server: 'x', tool: 'y' } })]],
  [/can name a group of commands/, restricting.map(effect => ({ effect, group: 'only-reads', scope }))],
  [/"grammar" is only for allow rules/, restricting.map(effect => ({ effect, command: 'ls', args: 'grammar' }))],
  [
    /names no program, so the rule would never match/,
    restricting.flatMap(effect => ['(', ' ', '#rm -rf', 'if', '&&'].map(command => ({ effect, command }))),
  ],
  [/"args" needs a command/, [allow({ path: '/a', args: 'exact' }), deny({ path: '/a', args: 'exact' })]],
  [/relative path needs scope\.cwd/, [deny({ path: 'a.txt' }), { effect: 'allow', path: 'a' }]],
  [/relative path needs scope\.cwd/, [deny({ path: 'a.txt', scope: { session } })]],
  [/cannot contain a NUL character/, [deny({ path: '/a\0b' }), allow({ path: 'a\0b' })]],
  [
    /is not the name of a host/,
    ['https://a.b/', 'a.b/c', 'x@a.b', 'a b', '?', 'a#b', 'a\\b'].map(host => deny({ host })),
  ],
  [/group of commands for one folder/, [{ effect: 'allow', group: 'only-reads' }]],
  [/group of commands for one folder/, [{ effect: 'allow', group: 'only-reads', scope: { session } }]],
  [
    /is for reading or writing/,
    (['shell', 'fetch', 'mcp', 'other'] as const).map(action => allow({ action, path: '/a' })),
  ],
  [/MCP server must name one tool/, [allow({ mcp: { server: 'x' } })]],
  [/every use of Bash is too broad/, [{ effect: 'allow', tool: 'Bash' }, allow({ tool: 'Bash' })]],
  [/every use of every tool is too broad/, [allow({}), allow({ action: 'shell' })]],
  [
    /something else in another folder/,
    [{ effect: 'allow', command: 'ls' }, allow({ command: 'ls', scope: { driver: 'claude' } })],
  ],
  [
    /^Holdpoint cannot prove what this command does, so it cannot be allowed\. The command expands a variable\.$/,
    [allow({ command: 'ls $HOME' })],
  ],
  [/cannot be allowed\. The command groups other commands\.$/, [allow({ command: '(' })]],
  [/is for one command/, [allow({ command: 'ls && ls' }), allow({ command: 'ls; ls | ls' })]],
  [/without redirects/, [allow({ command: 'ls > /dev/null' })]],
  [/A rule for cd has no effect/, [allow({ command: 'cd src' })]],
  [
    / without arguments runs whatever it reads/,
    ['bash', '/bin/sh', 'python3', '/usr/bin/node'].map(command => allow({ command })),
  ],
  [/^Holdpoint does not know the arguments of my tool\./, [allow({ command: 'my tool', args: 'grammar' })]],
  [/^Holdpoint does not know the arguments of git\./, [allow({ command: 'git', args: 'grammar' })]],
]

const accepted: readonly RuleDraft[] = [
  allow({ tool: 'Bash', command: 'ls', scope: { session } }),
  allow({ command: 'ls', until: 'turn', usesLeft: 2, scope: { session } }),
  allow({ command: 'ls', args: 'exact' }),
  allow({ command: 'ls', args: 'grammar' }),
  allow({ command: 'git status', args: 'grammar' }),
  allow({ command: 'sed', args: 'grammar' }),
  allow({ command: 'my tool', args: 'exact' }),
  allow({ command: 'bash x.sh' }),
  allow({ command: 'python3 x.py' }),
  allow({ group: 'only-reads' }),
  ...['C:\\srv', 'c:/srv', '\\\\host\\srv'].map(cwd => allow({ command: 'ls', scope: { cwd } })),
  { effect: 'allow', path: '/a' },
  allow({ path: 'a' }),
  allow({ action: 'read', path: '/a' }),
  allow({ action: 'write', path: '/a' }),
  allow({ host: 'docs.example.com' }),
  allow({ mcp: { server: 'x', tool: 'y' } }),
  deny({ tool: 'Write', path: '/a' }),
  deny({ path: 'a', scope }),
  deny({ host: 'evil.test' }),
  deny({ command: 'ls', args: 'exact' }),
  deny({ command: 'cd / && rm *', message: 'No.' }),
  deny({ tool: 'Bash' }),
  deny({ mcp: { server: 'x' } }),
  { effect: 'ask', tool: 'Bash', command: 'bash' },
  { effect: 'ask', tool: 'Bash', scope: { driver: 'claude' }, expiresAt: 5, note: 'n' },
]

describe('validateRule', () => {
  it.each(refused.flatMap(([reason, drafts]) => drafts.map(draft => [draft, reason] as const)))(
    'validateRule refuses %j with a reason that contains %s',
    (draft, reason) => {
      expect(() => validateRule(draft)).toThrow(Fault)
      expect(() => validateRule(draft)).toThrow(expect.objectContaining({ code: 'unsupported' }))
      expect(ruleProblem(draft)).toMatch(reason)
    },
  )
  it.each(accepted)('validateRule returns %j unchanged', draft => expect(validateRule(draft)).toEqual(draft))
  it('validateRule is tested with every field of the rule schema', () => {
    expect(Object.keys(RuleDraftSchema.shape)).toEqual([
      'effect',
      'tool',
      'action',
      'command',
      'args',
      'group',
      'path',
      'host',
      'mcp',
      'when',
      'scope',
      'expiresAt',
      'usesLeft',
      'until',
      'needs',
      'message',
      'note',
      'paused',
    ])
  })
})

describe('broadAllowProblem', () => {
  it('broadAllowProblem says that a stored allow rule with a relative folder is too broad, because the folder could be anywhere', () => {
    expect(broadAllowProblem(allow({ command: 'ls', scope: { cwd: '.' } }))).toMatch(/another folder/)
    expect(broadAllowProblem(allow({ command: 'ls', scope: { cwd: '.', session } }))).toBe(null)
  })
  it('broadAllowProblem finds no problem in a stored rule that denies or asks', () => {
    for (const effect of restricting)
      for (const draft of [{}, { command: '(' }]) expect(broadAllowProblem({ effect, ...draft })).toBe(null)
  })
})

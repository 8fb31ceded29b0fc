/** Tests that allow rules match only what can be proven, and that deny beats ask and ask beats allow. */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { Rule, RuleDraft, RunnerId, SessionId, ToolCall } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type RuleContext, RuleSet } from '../src/index.ts'

const session = 'ses_00000000000000000000' as SessionId // a valid id
const otherSession = 'ses_11111111111111111111' as SessionId // a valid id
const runner = 'run_00000000000000000000' as RunnerId // a valid id
const context: RuleContext = {
  driver: 'claude',
  session,
  folder: '/srv',
  agentPath: [],
  isEditable: true,
  now: 1000,
  home: '/home/ada',
  // Every path exists and is not a link.
  files: { realPath: posix.normalize },
  builtIn: { protectedFolder: null, cwd: '/srv' },
  runner,
  isUsedUp: () => false,
}
const bash = (command: unknown, cwd = '/srv'): ToolCall => ({
  tool: 'Bash',
  input: { command } as ToolCall['input'],
  cwd,
}) // an agent can send any JSON value, so tests may too
let ruleCount = 0
function rule(draft: Partial<RuleDraft>): Rule {
  const id = `rul_${String(ruleCount++).padStart(20, '0')}` as Rule['id'] // a valid id
  return { effect: 'allow', scope: { cwd: '/srv' }, ...draft, id, madeBy: 'ada', madeAt: 0, version: 1 }
}
const evaluate = (rules: readonly Rule[], call: ToolCall, change: Partial<RuleContext> = {}) =>
  new RuleSet(rules).evaluate(call, { ...context, ...change })
const verdict = (rules: readonly Rule[], call: ToolCall, change: Partial<RuleContext> = {}) =>
  evaluate(rules, call, change).verdict

describe('an allow rule with a command', () => {
  const allow = [rule({ command: 'npm test' })]
  it('an allow rule with a command allows exactly that command', () =>
    expect(verdict(allow, bash('npm test'))).toBe('allow'))
  it.each(['npm  test', ' npm test', 'npm test ', 'npm "test"', "npm 'test'", 'npm te\\st'])(
    'an allow rule with a command allows %j and returns it in canonical quoting, because the words are the same',
    command => expect(evaluate(allow, bash(command))).toMatchObject({ verdict: 'allow', command: 'npm test' }),
  )
  it.each(['npm  test', 'npm "test"'])(
    'an allow rule with a command does not allow %j to an agent that cannot run an edited text',
    command => expect(verdict(allow, bash(command), { isEditable: false })).toBe('ask'),
  )
  it('an allow rule with a command allows the canonical text to an agent that cannot run an edited text', () =>
    expect(verdict(allow, bash('npm test'), { isEditable: false })).toBe('allow'))
  it.each([
    '"npm" test',
    'npm test\nls',
    'npm test #',
    'NPM TEST',
    'npm',
    'npm testing',
    'npm test && ls',
    'npm\u00a0test',
    'npm te\u200bst',
    'nрm test',
    '',
  ])('an allow rule with a command does not allow %j', command => expect(verdict(allow, bash(command))).toBe('ask'))
  it.each([undefined, null, 1, true, ['npm test'], ['npm', 'test'], { toString: 'npm test' }])(
    'an allow rule with a command does not allow a command that is not a string: %j',
    command => expect(verdict(allow, bash(command))).toBe('ask'),
  )
  it('an allow rule with a command does not allow the same text under another field name', () => {
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
  it.each(additionalFields)(
    'an allow rule with a command gives a call with the additional input fields %j the verdict %s',
    (more, expected) => {
      const input = { ...bash('npm test').input }
      for (const [name, value] of Object.entries(more)) Object.defineProperty(input, name, { value, enumerable: true })
      expect(verdict(allow, { tool: 'Bash', input, cwd: '/srv' })).toBe(expected)
      expect(verdict([rule({ effect: 'deny', command: 'npm test' })], { tool: 'Bash', input, cwd: '/srv' })).toBe(
        'deny',
      )
    },
  )
  it('an allow rule with a command does not match in another folder, or if the stored rule has no folder', () => {
    expect(verdict(allow, bash('npm test', '/elsewhere'))).toBe('ask')
    expect(verdict([rule({ command: 'npm test', scope: {} })], bash('npm test'))).toBe('ask')
  })

  const attacks = JSON.parse(readFileSync(new URL('./data/policy.json', import.meta.url), 'utf8')) as readonly {
    readonly rule: string
    readonly command: string
  }[] // the file contains a list of objects with these fields
  it('P-A: an allow rule with a command allows none of the commands in the collection of bypass attempts', () => {
    expect(attacks.length).toBeGreaterThan(60)
    const allowed = attacks.filter(
      ({ rule: command, command: asked }) => verdict([rule({ command })], bash(asked)) === 'allow',
    )
    expect(allowed).toEqual([])
  })
  it('P-A: an allow rule with a command allows none of the bypass attempts, even if all groups are on and the arguments may vary', () => {
    const groups = [rule({ group: 'only-reads' }), rule({ group: 'project-code' })]
    const allowed = attacks.filter(({ rule: command, command: asked }) => {
      const rules = [rule({ command }), rule({ command, args: 'grammar' }), ...groups]
      return verdict(rules, bash(asked)) === 'allow'
    })
    expect(allowed).toEqual([])
  })
})

describe('an allow rule with a path', () => {
  const allow = [rule({ action: 'read', path: '/srv/a.txt' })]
  const read = (path: string): ToolCall => ({ tool: 'Read', input: {}, cwd: '/srv', action: { read: [path] } })
  const write = (path: string): ToolCall => ({ tool: 'Edit', input: {}, cwd: '/srv', action: { write: [path] } })
  it('an allow rule with a path allows reading that file in every notation of its path', () => {
    for (const path of ['/srv/a.txt', 'a.txt', './a.txt', '/srv//a.txt', '/srv/sub/../a.txt'])
      expect(verdict(allow, read(path)), path).toBe('allow')
  })
  it.each(['/srv/A.txt', '/srv/a.txt.', '/srv/b.txt', '/etc/passwd', '../a.txt'])(
    'an allow rule with a path does not allow reading %j',
    path => expect(verdict(allow, read(path))).toBe('ask'),
  )
  it('an allow rule with a path allows writing only if the rule says so', () => {
    expect(verdict(allow, write('/srv/a.txt'))).toBe('ask')
    expect(verdict([rule({ action: 'write', path: '/srv/a.txt' })], write('/srv/a.txt'))).toBe('allow')
    expect(verdict([rule({ action: 'write', path: '/srv/a.txt' })], read('/srv/a.txt'))).toBe('ask')
  })
  it('an allow rule with a path matches the real path, so a link to another file is not allowed', () => {
    const files = { realPath: (path: string) => (path === '/srv/a.txt' ? '/etc/passwd' : posix.normalize(path)) }
    expect(verdict(allow, read('/srv/a.txt'), { files })).toBe('ask')
  })
  it('an allow rule with a path allows nothing if the files cannot be looked up', () => {
    expect(verdict([rule({ action: 'read', path: '/srv/**' })], read('/srv/a.txt'), { files: null })).toBe('ask')
  })
})

describe('an allow rule with a host', () => {
  const allow = [rule({ host: 'docs.example.com' })]
  const fetch = (host: string): ToolCall => ({ tool: 'WebFetch', input: {}, cwd: '/srv', action: { fetch: host } })
  it.each(['docs.example.com', 'DOCS.example.com', 'docs.example.com.'])('an allow rule with a host allows %s', host =>
    expect(verdict(allow, fetch(host))).toBe('allow'),
  )
  it.each(['docs.example.com.evil.test', 'evil.test', 'xdocs.example.com', 'user@docs.example.com', ''])(
    'an allow rule with a host does not allow %j',
    host => expect(verdict(allow, fetch(host))).toBe('ask'),
  )
})

describe('an allow rule for an MCP tool', () => {
  const allow = [rule({ mcp: { server: 'github', tool: 'get_issue' } })]
  const mcp = (server: string, tool: string): ToolCall => ({
    tool: `mcp__${server}__${tool}`,
    input: {},
    cwd: '/srv',
    action: { mcp: server, tool },
  })
  it('an allow rule for an MCP tool allows that tool of that server and no other', () => {
    expect(verdict(allow, mcp('github', 'get_issue'))).toBe('allow')
    expect(verdict(allow, mcp('github', 'delete_repo'))).toBe('ask')
    expect(verdict(allow, mcp('gitlab', 'get_issue'))).toBe('ask')
  })
})

describe('a command of several parts', () => {
  const rules = [rule({ command: 'npm test' }), rule({ command: 'npm run lint' })]
  it.each(['npm test && npm run lint', 'npm test; npm run lint', 'npm run lint | npm test', 'npm test > /dev/null'])(
    'a command of several parts is allowed if each part is allowed by some rule: %s',
    command => {
      const decision = evaluate(rules, bash(command))
      expect(decision.verdict).toBe('allow')
      expect(decision.rules.length).toBe(command.includes('lint') ? 2 : 1)
    },
  )
  it.each([
    'npm test && rm x',
    'npm test & npm test',
    'npm test > out',
    '(npm test)',
    'npm test $(ls)',
    'A=1 npm test',
  ])('a person is asked about a command of several parts if one part is not allowed or cannot be proven: %s', command =>
    expect(verdict(rules, bash(command))).toBe('ask'),
  )
  it('a command of several parts may change to a folder inside the session’s folder if the rule is for that folder', () => {
    expect(verdict([rule({ command: 'ls', scope: { cwd: '/srv/sub' } })], bash('cd ./sub && ls'))).toBe('allow')
    expect(verdict([rule({ command: 'ls' })], bash('cd ./sub && ls'))).toBe('ask')
    expect(verdict([rule({ command: 'ls', scope: { cwd: '/etc' } })], bash('cd /etc && ls'))).toBe('ask')
    // If cd fails, ls runs in the session's folder.
    expect(verdict([rule({ command: 'ls', scope: { cwd: '/srv/sub' } })], bash('cd ./sub; ls'))).toBe('ask')
  })
})

describe.each(['deny', 'ask'] as const)('a rule that says %s', effect => {
  const matched: readonly [string, string][] = [
    ['rm', 'rm x'],
    ['rm', 'cd /tmp && sudo rm -rf x'],
    ['rm', 'find . -exec rm {} +'],
    ['rm', "bash -c 'rm x'"],
    ['rm', 'echo x | xargs rm'],
    ['rm', '/bin/rm x'],
    ['rm', 'r"m" x'],
    ['git push', 'git -C sub push origin main'],
    ['git push --force', 'git push origin main --force'],
    ['npm publish', 'npm test && npm publish'],
    ['git push', 'echo push | xargs git'],
    ['git push', 'parallel git ::: push'],
    ['git push', 'git -c alias.p=push p'],
    ['rm -rf', 'rm -fr build'],
    ['rm -rf', 'rm -r -f build'],
    ['rm -rf', 'rm build -vrf'],
  ]
  it.each(matched)('a rule for the command %j matches %j', (command, text) => {
    const rules = [rule({ effect, command, scope: {} }), rule({ command: text.startsWith('rm') ? 'rm x' : 'ls' })]
    expect(evaluate(rules, bash(text))).toMatchObject({ verdict: effect, rule: rules[0]?.id })
  })
  it('a rule for a command does not match other commands', () => {
    const rules = [rule({ effect, command: 'git push', scope: {} }), rule({ command: 'git status' })]
    expect(verdict(rules, bash('git status'))).toBe('allow')
    const force = rule({ effect, command: 'rm -rf', scope: {} })
    expect(verdict([force, rule({ command: 'rm -r x' })], bash('rm -r x'))).toBe('allow')
  })
  it('a rule for a path matches calls that name the path, in any form', () => {
    const rules = [rule({ effect, path: '/srv/secret/**', scope: {} })]
    const id = rules[0]?.id
    const calls: readonly ToolCall[] = [
      { tool: 'Read', input: {}, cwd: '/srv', action: { read: ['secret/key'] } },
      { tool: 'Edit', input: {}, cwd: '/srv', action: { write: ['/srv/a', '/srv/SECRET/key'] } },
      bash('cat secret/key'),
      bash('cat ./sub/../secret/key'),
      bash('cp --target-directory=/srv/secret a'),
    ]
    for (const call of calls) expect(evaluate(rules, call), JSON.stringify(call)).toMatchObject({ rule: id })
    expect(evaluate(rules, bash('cat public')).rule).toBeUndefined()
  })
  it('a rule for a host matches fetches and commands that name the host', () => {
    const rules = [rule({ effect, host: 'evil.test', scope: {} })]
    const id = rules[0]?.id
    expect(evaluate(rules, { tool: 'f', input: {}, cwd: '/', action: { fetch: 'Evil.test.' } })).toMatchObject({
      rule: id,
    })
    expect(evaluate(rules, bash('curl https://evil.test/x'))).toMatchObject({ rule: id })
    expect(evaluate(rules, bash('curl https://good.test/x')).rule).toBeUndefined()
  })
  it('a rule for a kind of action matches every action of that kind', () => {
    const rules = [rule({ effect, action: 'fetch', scope: {} })]
    expect(evaluate(rules, { tool: 'f', input: {}, cwd: '/', action: { fetch: 'a.b' } }).rule).toBe(rules[0]?.id)
    expect(evaluate(rules, bash('ls')).rule).toBeUndefined()
  })
  it('a rule for a folder also matches in its subfolders', () => {
    const rules = [rule({ effect, command: 'ls' })]
    expect(evaluate(rules, bash('ls', '/srv/sub'), { folder: '/srv/sub' }).rule).toBe(rules[0]?.id)
    expect(evaluate(rules, bash('ls', '/other'), { folder: '/other' }).rule).toBeUndefined()
  })
})

describe('a rule with a limit', () => {
  it.each([{ usesLeft: 1 }, { until: 'turn' }, { until: 'session' }] as const)(
    'a rule with the limit %j has no effect once the limit is reached',
    limit => {
      const rules = [rule({ command: 'ls', ...limit })]
      expect(verdict(rules, bash('ls'))).toBe('allow')
      expect(verdict(rules, bash('ls'), { isUsedUp: () => true })).toBe('ask')
    },
  )
  it('a rule with a limit has no effect while it is paused', () => {
    expect(verdict([rule({ command: 'ls', paused: true })], bash('ls'))).toBe('ask')
    expect(verdict([rule({ effect: 'deny', command: 'ls', paused: true }), rule({ command: 'ls' })], bash('ls'))).toBe(
      'allow',
    )
  })
  it('a rule from a file that nobody has trusted can only deny or ask', () => {
    const source = { file: '/srv/holdpoint.rules.json', trusted: false, project: true, runner }
    expect(verdict([{ ...rule({ command: 'ls' }), source }], bash('ls'))).toBe('ask')
    expect(verdict([{ ...rule({ effect: 'deny', command: 'ls' }), source }], bash('ls'))).toBe('deny')
    expect(verdict([{ ...rule({ command: 'ls' }), source: { ...source, trusted: true } }], bash('ls'))).toBe('allow')
  })
  it('a rule from the file of a project applies only on the machine of the file, and can only deny or ask if the machine is not known', () => {
    const source = { file: '/srv/holdpoint.rules.json', trusted: true, project: true, runner }
    const other = 'run_11111111111111111111' as RunnerId // a valid id
    const [allows, denies] = [
      { ...rule({ command: 'ls' }), source },
      { ...rule({ effect: 'deny', command: 'rm' }), source },
    ]
    expect(verdict([allows], bash('ls'), { runner: other })).toBe('ask')
    expect(verdict([denies], bash('rm x'), { runner: other })).toBe('ask')
    expect(verdict([allows], bash('ls'), { runner: null })).toBe('ask')
    expect(verdict([denies], bash('rm x'), { runner: null })).toBe('deny')
  })
  it('a rule for a subagent matches that subagent and its subagents only', () => {
    const rules = [rule({ command: 'ls', scope: { cwd: '/srv', agentPath: ['tester'] } })]
    expect(verdict(rules, bash('ls'), { agentPath: ['tester'] })).toBe('allow')
    expect(verdict(rules, bash('ls'), { agentPath: ['tester', 'helper'] })).toBe('allow')
    expect(verdict(rules, bash('ls'), { agentPath: [] })).toBe('ask')
    expect(verdict(rules, bash('ls'), { agentPath: ['other', 'tester'] })).toBe('ask')
    const deeper = [rule({ command: 'ls', scope: { cwd: '/srv', agentPath: ['tester', 'helper'] } })]
    expect(verdict(deeper, bash('ls'), { agentPath: ['tester'] })).toBe('ask')
    expect(verdict(deeper, bash('ls'), { agentPath: ['tester', 'other'] })).toBe('ask')
  })
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
  ])('P9: a rule for a tool does not match the tool %j', tool =>
    expect(verdict(rules, { tool, input: { command: 'x' }, cwd: '/srv' })).toBe('ask'),
  )
  it('P9: a rule for a tool does not match a tool with any other name (property)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), tool => {
        fc.pre(tool !== 'Bash')
        expect(verdict(rules, { tool, input: { command: 'x' }, cwd: '/srv' })).toBe('ask')
      }),
    )
  })
  it('a rule for a tool with the name of an inherited property matches only that tool', () => {
    const rules = [rule({ effect: 'deny', tool: 'constructor' })]
    expect(verdict(rules, { tool: 'constructor', input: {}, cwd: '/srv' })).toBe('deny')
    expect(verdict(rules, bash('x'))).toBe('ask')
  })
})

describe('a set of several rules', () => {
  it('a set of several rules lets deny beat ask and ask beat allow, in any order', () => {
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
  it('P4: a set of several rules lets deny beat ask and ask beat allow for any rules about a call, in any order (property)', () => {
    const targets: readonly Partial<RuleDraft>[] = [
      { command: 'ls' },
      { command: 'ls -l' },
      { command: 'cat a.txt' },
      { command: 'ls', args: 'grammar' },
      { group: 'only-reads' },
      { tool: 'Bash', command: 'ls' },
      { action: 'shell', command: 'ls' },
      { command: 'ls', scope: { session } },
      { command: 'ls', expiresAt: 1 },
      { command: 'ls', paused: true },
    ]
    const draft = fc.record({
      effect: fc.constantFrom<RuleDraft['effect']>('allow', 'ask', 'deny'),
      target: fc.constantFrom(...targets),
    })
    const strength = { deny: 3, ask: 2, allow: 1 } as const
    const calls = fc.constantFrom('ls', 'ls -l', 'cat a.txt', 'rm x')
    fc.assert(
      fc.property(fc.array(draft, { maxLength: 8 }), calls, fc.nat(), (drafts, command, turn) => {
        const rules = drafts.map(({ effect, target }) => rule({ effect, ...target }))
        const alone = rules.flatMap(each => {
          const decided = evaluate([each], bash(command))
          return decided.rules.length > 0 ? [decided.verdict] : []
        })
        const strongest = alone.toSorted((a, b) => strength[b] - strength[a])[0] ?? 'ask'
        const at = rules.length === 0 ? 0 : turn % rules.length
        for (const order of [rules, rules.toReversed(), [...rules.slice(at), ...rules.slice(0, at)]])
          expect(verdict(order, bash(command))).toBe(strongest)
      }),
    )
  })
  it('a set of several rules ignores rules that do not match', () => {
    expect(verdict([rule({ effect: 'deny', command: 'rm' }), rule({ command: 'ls' })], bash('ls'))).toBe('allow')
  })
  it('a set of several rules returns the id, the version and the reason of the rule that decided', () => {
    const [deny, allow] = [rule({ effect: 'deny', message: 'Never here.' }), rule({ command: 'ls' })]
    expect(evaluate([allow, deny], bash('ls'))).toEqual({
      verdict: 'deny',
      rule: deny.id,
      ruleVersion: 1,
      reason: 'Never here.',
      rules: [deny],
    })
    expect(evaluate([allow], bash('ls'))).toEqual({
      verdict: 'allow',
      rule: allow.id,
      ruleVersion: 1,
      reason: 'allow ls',
      command: 'ls',
      rules: [allow],
    })
    expect(evaluate([], bash('ls'))).toEqual({ verdict: 'ask', reason: 'No rule matches.', rules: [] })
  })
})

describe('a rule with a scope', () => {
  const rows: readonly [string, RuleDraft['scope'], ToolCall, Partial<RuleContext>, boolean][] = [
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
  it.each([{ folder: null }, { isFolderClaimed: true }])(
    'F18: a rule for a subagent does not allow a call of an agent that names its subagents itself, but denies it (%o)',
    change => {
      const context = { ...change, agentPath: ['tester'] }
      const scope = { session, agentPath: ['tester'] }
      expect(verdict([rule({ command: 'ls', scope })], bash('ls'), { agentPath: ['tester'] })).toBe('allow')
      expect(verdict([rule({ command: 'ls', scope })], bash('ls'), context)).toBe('ask')
      expect(verdict([rule({ effect: 'deny', command: 'ls', scope })], bash('ls'), context)).toBe('deny')
      const everyAgent = rule({ command: 'ls', scope: { session, agentPath: [] } })
      expect(verdict([everyAgent], bash('ls'), context)).toBe('allow')
    },
  )
  it.each(rows)('a rule with a scope %s', (_name, scope, ask, change, matches) => {
    expect(verdict([rule({ command: 'ls', ...(scope ? { scope } : {}) })], ask, change)).toBe(matches ? 'allow' : 'ask')
  })
})

describe.each(['deny', 'ask'] as const)('F18: a rule with a folder and the effect %s', effect => {
  // A deny beats the allow for the session, and so does an ask.
  const rules = [rule({ command: 'ls', scope: { session } }), rule({ effect, command: 'ls', scope: { cwd: '/srv' } })]
  it('a rule with a folder matches if and only if the session runs in that folder or the agent claims so', () => {
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
  ])('a rule that expires at time 1000 gives the verdict at time %i: %s', (now, expected) =>
    expect(verdict(allow, bash('ls'), { now })).toBe(expected),
  )
})

describe('a command that is too long to check', () => {
  const long = `echo ${'a '.repeat(70_000)}`
  const other = (command: string): ToolCall => ({ tool: 'run_shell', input: { command }, cwd: '/srv' })
  const words = Array.from({ length: 3000 }, (_, i) => `file${i}`).join(' ')

  it('a command that is too long to check goes to a person, even if a rule would allow it', () => {
    const allow = [rule({ tool: 'run_shell' }), rule({ group: 'only-reads' })]
    for (const call of [bash(long), other(long), other(`ls ${words}`)])
      expect(evaluate(allow, call)).toMatchObject({ verdict: 'ask' })
  })
  it('a command with more quotes than Holdpoint reads goes to a person, even if it has few words', () => {
    const quotes = `"'\``.repeat(20_000)
    const allow = [rule({ tool: 'run_shell' })]
    expect(evaluate(allow, other(`ls ${quotes}`))).toMatchObject({
      verdict: 'ask',
      reason: 'This call is too long to check, so a person has to decide.',
    })
    expect(evaluate(allow, other(`ls ${quotes.slice(0, 300)}`)).reason).not.toContain('too long')
  })
  it('a command that is too long to check is denied if its searched part contains what a rule denies', () => {
    const deny = [rule({ effect: 'deny', command: 'rm -rf', scope: {} })]
    for (const call of [bash(`rm -rf build; ${long}`), other(`rm -rf build; ${long}`), other(`rm -rf x ${words}`)])
      expect(verdict(deny, call)).toBe('deny')
  })
})

describe('a deny rule with a host', () => {
  const deny = [rule({ effect: 'deny', host: 'evil.test', scope: {} })]
  it.each([
    'curl http://evil.test/x',
    'curl HTTPS://EVIL.test',
    'wget http://%65vil.test/',
    'git clone ssh://a@evil.test/r',
  ])('a deny rule with a host denies %j', command => expect(verdict(deny, bash(command))).toBe('deny'))
})

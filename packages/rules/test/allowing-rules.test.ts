/** Tests what allow rules match: which commands, folders, files, hosts and tools they cover, and which they do not. */
import { posix } from 'node:path'
import type { Action, Rule, RuleDraft, ToolCall } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type RuleContext, RuleSet } from '../src/index.ts'
import { makeSite } from './support/node-files.ts'
import { bash, contextAt, runner, session, srvContext, srvRule } from './support/rule-context.ts'

const evaluate = (rules: readonly Rule[], call: ToolCall, change: Partial<RuleContext> = {}) =>
  new RuleSet(rules).evaluate(call, { ...srvContext, ...change })
const verdict = (drafts: readonly Partial<RuleDraft>[], call: ToolCall, change: Partial<RuleContext> = {}) =>
  evaluate(drafts.map(srvRule), call, change).verdict
const reason = (drafts: readonly Partial<RuleDraft>[], call: ToolCall, change: Partial<RuleContext> = {}) =>
  evaluate(drafts.map(srvRule), call, change).reason
const call = (action: Action, cwd = '/srv'): ToolCall => ({ tool: 'T', input: {}, cwd, action })

describe('several allow rules', () => {
  it('several allow rules with the same command in different folders match in each of their folders', () => {
    for (const args of ['exact', 'grammar'] as const) {
      const drafts = ['/srv/a', '/srv/b'].map(cwd => ({ command: 'ls', args, scope: { cwd } }))
      for (const cwd of ['/srv/a', '/srv/b']) expect(verdict(drafts, bash('ls', cwd))).toBe('allow')
      expect(verdict(drafts, bash('ls', '/srv/c'))).toBe('ask')
    }
  })
  it('several allow rules of different kinds match independently of each other', () => {
    const exact = { command: 'mytool' }
    const grammar: Partial<RuleDraft> = { command: 'wc', args: 'grammar' }
    const group: Partial<RuleDraft> = { group: 'only-reads' }
    for (const drafts of [
      [exact, grammar],
      [exact, group],
      [exact, grammar, group, { path: '/srv/**' }],
    ]) {
      expect(verdict(drafts, bash('mytool'))).toBe('allow')
      expect(verdict(drafts, bash('wc -l a.txt'))).toBe('allow')
    }
  })
  it('several allow rules that cover the same file answer in their order', () => {
    const [folder, file] = [srvRule({ path: '/srv/**' }), srvRule({ path: '/srv/a.txt' })]
    const read = call({ read: ['/srv/a.txt'] })
    expect(evaluate([folder, file], read).rules).toEqual([folder])
    expect(evaluate([file, folder], read).rules).toEqual([file])
  })
  it('several allow rules are named once each, even if one allows two parts of a command', () => {
    const allow = srvRule({ command: 'ls' })
    expect(evaluate([allow], bash('ls && ls')).rules).toEqual([allow])
  })
})

describe('an allow rule with known arguments', () => {
  const status: Partial<RuleDraft> = { command: 'cargo test', args: 'grammar' }
  it('an allow rule with known arguments allows its command with further harmless arguments, but no other command', () => {
    expect(verdict([status], bash('cargo test'))).toBe('allow')
    expect(verdict([status], bash('cargo test --lib'))).toBe('allow')
    expect(verdict([status], bash('cargo check'))).toBe('ask')
    expect(verdict([status], bash('cargo'))).toBe('ask')
  })
  it('an allow rule with known arguments says why the further arguments are not allowed', () => {
    expect(reason([{ command: 'ls', args: 'grammar' }], bash('ls --unknown'))).toMatch(/--unknown/)
    expect(reason([{ command: 'ls', args: 'exact' }], bash('ls --unknown'))).toBe('No rule matches.')
  })
  it.each(['awk', 'node'])(
    'an allow rule with known arguments for the interpreter %j does not allow the interpreter without arguments',
    command => {
      const drafts: Partial<RuleDraft>[] = [{ command, args: 'grammar' }, { group: 'only-reads' }]
      expect(verdict(drafts, bash(`echo x | ${command}`))).toBe('ask')
      expect(verdict(drafts, bash(command))).toBe('ask')
    },
  )
})

describe('a group of commands', () => {
  it('a group of commands allows its own commands, but not the commands of the other group', () => {
    expect(verdict([{ group: 'only-reads' }], bash('ls'))).toBe('allow')
    expect(verdict([{ group: 'project-code' }], bash('cargo test'))).toBe('allow')
    expect(reason([{ group: 'only-reads' }], bash('cargo test'))).toBe('No rule matches.')
    expect(reason([{ group: 'project-code' }], bash('ls'))).toBe('No rule matches.')
  })
  it('a group of commands applies to sessions in its folder and below, even if the call names another folder', () => {
    const reads = (cwd: string): Partial<RuleDraft>[] => [{ group: 'only-reads', scope: { cwd } }]
    expect(verdict(reads('/srv'), bash('ls', '/srv/sub'))).toBe('allow')
    expect(verdict(reads('/srv'), bash('ls', '/srv/sub'), { folder: '/srv/sub' })).toBe('allow')
    expect(verdict(reads('/srv/sub'), bash('ls', '/srv/sub'))).toBe('ask')
    expect(verdict(reads('/srv'), bash('ls', '/elsewhere'))).toBe('ask')
  })
  it('a group of commands says why a command is not in it', () => {
    expect(reason([{ group: 'only-reads' }], bash('curl x.test'))).toBe(
      'There is no list of harmless options for “curl”.',
    )
  })
})

describe('the reason why no rule allows a command', () => {
  it('the reason why no rule allows a command names the part that cannot be proven, if there are rules with commands', () => {
    expect(reason([{ command: 'ls' }], bash('ls $x'))).toBe('The command expands a variable.')
    expect(reason([{ path: '/srv/a' }], bash('ls $x'))).toBe('No rule matches.')
    expect(reason([], bash('ls $x'))).toBe('No rule matches.')
  })
  it('the reason why no rule allows a command says that the agent cannot run the command in canonical quoting', () => {
    expect(reason([{ command: 'ls' }], bash('ls '), { isEditable: false })).toBe(
      'This agent cannot run the command as Holdpoint has read it.',
    )
  })
  it('no rule allows a command with an additional input field, even if the agent has put the command into a shell', () => {
    const input = { command: "/bin/bash -lc 'npm test'" }
    const wrapped = { tool: 'exec_command', cwd: '/srv', action: { shell: 'npm test', cwd: '/srv' } }
    const drafts = [{ command: 'npm test' }]
    expect(verdict(drafts, { ...wrapped, input })).toBe('allow')
    const additionalPermissions = { network: { enabled: true } }
    expect(verdict(drafts, { ...wrapped, input: { ...input, additionalPermissions } })).toBe('ask')
  })
  it('the reason why no rule allows a command names the additional field', () => {
    const input = { command: 'ls', sandbox: false }
    expect(reason([{ command: 'ls' }], { tool: 'Bash', input, cwd: '/srv' })).toBe(
      'No rule allows a command with the field "sandbox".',
    )
  })
  it('the reason why no rule allows a command says that the command changes to a folder without a rule', () => {
    expect(reason([{ group: 'only-reads' }], bash('cd /etc && ls'))).toBe(
      'The command changes to a folder that no rule covers.',
    )
    expect(reason([{ group: 'only-reads' }], bash('cd src'))).toBe('No rule matches.')
  })
  it('the reason why no rule allows a command says that Holdpoint does not know the folder of the agent', () => {
    const drafts = [{ command: 'ls', scope: { session } }]
    expect(verdict(drafts, bash('ls'), { folder: null })).toBe('allow')
    expect(reason(drafts, bash('pwd'), { folder: null })).toBe(
      'Holdpoint does not know in which folder this agent runs.',
    )
  })
})

describe('an agent whose input is not the text of the command', () => {
  const run = (shell: string): ToolCall => ({
    tool: 'exec',
    input: { argv: ['bash', '-lc', shell], sandbox: true },
    cwd: '/srv',
    action: { shell, cwd: '/srv' },
  })
  it('an agent whose input is not the text of the command may run a command that is already in canonical quoting, because nothing has to be replaced', () => {
    expect(evaluate([srvRule({ command: 'ls src' })], run('ls src'))).toMatchObject({
      verdict: 'allow',
      command: 'ls src',
    })
    expect(verdict([{ command: 'ls src' }], run('ls  src'))).toBe('ask')
  })
})

describe('the folder of a call', () => {
  const inFolder = (action: string, cwd: string): ToolCall => ({
    ...bash('ls', cwd),
    action: { shell: 'ls', cwd: action },
  })
  it('the folder of a call is the folder in which the command runs if the call runs a command', () => {
    expect(verdict([{ command: 'ls' }], inFolder('/srv', '/elsewhere'))).toBe('allow')
    expect(verdict([{ command: 'ls' }], inFolder('/elsewhere', '/srv'))).toBe('ask')
  })
  it('the folder of a call is compared with its symbolic links resolved, for the call and for the rule', () => {
    const files = { realPath: (path: string) => posix.normalize(path).replace(/^\/link(?=\/|$)/, '/srv') }
    expect(verdict([{ command: 'ls' }], bash('ls', '/link'), { files })).toBe('allow')
    expect(verdict([{ command: 'ls', scope: { cwd: '/link' } }], bash('ls'), { files })).toBe('allow')
    expect(verdict([{ command: 'ls', scope: { cwd: '/srv/a' } }], bash('cd /link/a && ls'), { files })).toBe('allow')
  })
  it('the folder of a call is compared as written if nothing exists there or its files are on another machine', () => {
    expect(verdict([{ command: 'ls' }], bash('ls'), { files: { realPath: () => null } })).toBe('allow')
    expect(verdict([{ command: 'ls' }], bash('ls'), { files: null })).toBe('allow')
    expect(verdict([{ command: 'ls' }], bash('ls', '/srv/sub'), { files: null })).toBe('ask')
  })
  it('the folder of a call must be inside the folder of the session, even if the rule is for the whole session', () => {
    const drafts = [{ command: 'ls', scope: { session } }]
    expect(verdict(drafts, bash('ls', '/srv/sub'))).toBe('allow')
    expect(verdict(drafts, bash('ls', '/elsewhere'))).toBe('ask')
  })
  it('a command must run in the folder of its rule; for a path, a host or an MCP tool, it is enough that the session runs in that folder', () => {
    expect(verdict([{ command: 'ls' }], bash('ls', '/srv/sub'))).toBe('ask')
    const others: readonly (readonly [Partial<RuleDraft>, Action])[] = [
      [{ path: '/srv/a.txt' }, { read: ['../a.txt'] }],
      [{ host: 'a.test' }, { fetch: 'a.test' }],
      [{ mcp: { server: 's', tool: 't' } }, { mcp: 's', tool: 't' }],
    ]
    for (const [draft, action] of others) {
      expect(verdict([draft], call(action, '/srv/sub'))).toBe('allow')
      expect(verdict([{ ...draft, scope: { cwd: '/srv/sub' } }], call(action, '/srv/sub'))).toBe('allow')
      expect(verdict([{ ...draft, scope: { cwd: '/srv/sub' } }], call(action))).toBe('ask')
      expect(verdict([{ ...draft, scope: { cwd: '/' } }], call(action))).toBe('ask')
      expect(verdict([draft], call(action, '/elsewhere'))).toBe('ask')
    }
  })
})

describe('a trusted rule from the file of a project', () => {
  const source = { file: '/srv/app/holdpoint.rules.json', trusted: true, project: true, runner }
  const files = { realPath: (path: string) => (path === '/srv/app/link' ? '/srv/other' : posix.normalize(path)) }
  const rule = { ...srvRule({ command: 'ls', scope: { cwd: '/srv/app/link' } }), source }
  it('a trusted rule from the file of a project does not match in a folder that is inside the project only through a link', () => {
    expect(evaluate([rule], bash('ls', '/srv/other'), { files }).verdict).toBe('ask')
    expect(
      evaluate([{ ...rule, source: { ...source, project: false } }], bash('ls', '/srv/other'), { files }),
    ).toMatchObject({
      verdict: 'allow',
    })
  })
  it('a trusted rule from the file of a project matches in the project', () => {
    const inside = { ...rule, scope: { cwd: '/srv/app' } }
    expect(evaluate([inside], bash('ls', '/srv/app')).verdict).toBe('allow')
  })
})

describe('an allow rule for a session whose folder is not known', () => {
  const unknown = { folder: null }
  it('an allow rule for a session whose folder is not known matches an exact command, a host and an MCP tool of that session', () => {
    expect(verdict([{ command: 'ls', scope: { session } }], bash('ls'), unknown)).toBe('allow')
    expect(verdict([{ host: 'a.test', scope: { session } }], call({ fetch: 'a.test' }), unknown)).toBe('allow')
  })
  it('an allow rule for a session whose folder is not known matches nothing that depends on the folder', () => {
    expect(verdict([{ command: 'ls', scope: { session, cwd: '/srv' } }], bash('ls'), unknown)).toBe('ask')
    expect(verdict([{ command: 'ls', args: 'grammar', scope: { session } }], bash('ls -l'), unknown)).toBe('ask')
    expect(verdict([{ path: '/srv/a', scope: { session } }], call({ read: ['/srv/a'] }), unknown)).toBe('ask')
    expect(verdict([{ group: 'only-reads', scope: { session, cwd: '/srv' } }], bash('ls'), unknown)).toBe('ask')
    expect(verdict([{ host: 'a.test', scope: {} }], call({ fetch: 'a.test' }), unknown)).toBe('ask')
  })
})

describe('an allow rule for a tool of the agent', () => {
  it('an allow rule for a tool of the agent does not match other tools', () => {
    expect(verdict([{ tool: 'T', path: '/srv/a' }], call({ read: ['/srv/a'] }))).toBe('allow')
    expect(verdict([{ tool: 'U', path: '/srv/a' }], call({ read: ['/srv/a'] }))).toBe('ask')
    expect(verdict([{ tool: 'U', command: 'ls' }], bash('ls'))).toBe('ask')
  })
})

describe('an allow rule for a kind of action', () => {
  it('an allow rule for a kind of action does not match actions of another kind', () => {
    expect(verdict([{ action: 'fetch', host: 'a.test' }], call({ fetch: 'a.test' }))).toBe('allow')
    expect(verdict([{ action: 'read', host: 'a.test' }], call({ fetch: 'a.test' }))).toBe('ask')
    expect(verdict([{ host: 'a.test' }], call({ mcp: 'a.test', tool: 'a.test' }))).toBe('ask')
    expect(verdict([{ path: '/srv/a' }], call({ fetch: 'a.test' }))).toBe('ask')
  })
  it('an allow rule for a kind of action does not match an invalid host name, even if the rule has the same host name', () => {
    expect(verdict([{ host: 'a/b' }], call({ fetch: 'a/b' }))).toBe('ask')
  })
})

describe('an allow rule with a path', () => {
  const read = (...paths: string[]) => call({ read: paths })
  const write = (...paths: string[]) => call({ write: paths })
  it('an allow rule with a path allows a call only if it covers every file that the call names', () => {
    expect(verdict([{ path: '/srv/docs/**' }], read('/srv/docs/a', '/srv/docs/b'))).toBe('allow')
    expect(verdict([{ path: '/srv/docs/**' }], read('/srv/docs/a', '/srv/b'))).toBe('ask')
    expect(verdict([{ action: 'write', path: '/srv/docs/**' }], write('/srv/docs/a', '/srv/b'))).toBe('ask')
  })
  it('an allow rule with a path is resolved from the folder of the rule, or is absolute', () => {
    expect(verdict([{ path: 'docs/**' }], read('/srv/docs/a'))).toBe('allow')
    expect(verdict([{ path: 'a' }], read('/srv/a'))).toBe('allow')
    expect(verdict([{ path: '/srv/a', scope: {} }], read('/srv/a'))).toBe('allow')
    const { scope: _scope, ...everywhere } = srvRule({ path: '/srv/a' })
    expect(evaluate([everywhere], read('/srv/a')).verdict).toBe('allow')
    expect(evaluate([everywhere], read('/srv/a'), { folder: null }).verdict).toBe('ask')
  })
  it('an allow rule with a path covers the content of a folder only if it ends with /**', () => {
    expect(verdict([{ path: '/srv/docs' }], read('/srv/docs'))).toBe('allow')
    expect(verdict([{ path: '/srv/docs' }], read('/srv/docs/a'))).toBe('ask')
    expect(verdict([{ path: '/srv/docs/**' }], read('/srv/docs'))).toBe('allow')
    expect(verdict([{ path: '/srv/docs/**' }], read('/srv/docs2/a'))).toBe('ask')
    expect(verdict([{ path: '/srv/**/a' }], read('/srv/a'))).toBe('ask')
    expect(verdict([{ path: '/**' }], read('/etc/hosts'))).toBe('allow')
    for (const path of ['**', 'docs/**/']) expect(verdict([{ path }], read('/srv/docs/a'))).toBe('ask')
  })
  it('an allow rule with a path covers secrets, protected files and files outside the session’s folder only if it names them exactly', () => {
    for (const path of ['/srv/.env', '/etc/hosts']) expect(verdict([{ path }], read(path))).toBe('allow')
    expect(verdict([{ path: '/srv/**' }], read('/srv/.env'))).toBe('ask')
    expect(verdict([{ path: '/etc/**' }], read('/etc/hosts'))).toBe('allow')
    const draft: Partial<RuleDraft> = { action: 'write', path: '/srv/package.json' }
    expect(verdict([draft], write('/srv/package.json'))).toBe('allow')
    expect(verdict([{ ...draft, path: '/srv/**' }], write('/srv/package.json'))).toBe('ask')
  })
})

describe('an allow rule with a path of a real folder', () => {
  const site = makeSite({
    'docs/a.md': '',
    'docs/keys': '->../keys',
    'docs/.hidden/b.md': '',
    'keys/.env': 'x',
    'more/node_modules/x/a.js': '',
  })
  const context = contextAt({ ...site, folder: `${site.folder}/docs`, cwd: `${site.folder}/docs` })
  const verdictOf = (path: string, asked: string) => {
    const rule = srvRule({ action: 'read', path, scope: {} })
    return new RuleSet([rule]).evaluate(call({ read: [asked] }, `${site.folder}/docs`), context).verdict
  }
  it('an allow rule with a path of a real folder does not allow a search through another folder, even if that folder contains no secret', () => {
    expect(verdictOf(`${site.folder}/docs/**`, '../more')).toBe('ask')
    expect(verdictOf(`${site.folder}/docs`, '../more')).toBe('ask')
  })
  it('an allow rule with a path of a real folder allows a search through the folder if the search does not follow links', () => {
    expect(verdictOf(`${site.folder}/docs/**`, '.')).toBe('allow')
    expect(verdictOf(`${site.folder}/docs`, '.')).toBe('allow')
  })
  it('an allow rule with a path of a real folder allows a search through a folder outside the session’s folder if the rule names that folder and it contains no secret', () => {
    expect(verdictOf(`${site.folder}/more/**`, '../more')).toBe('allow')
    expect(verdictOf(`${site.folder}/keys/**`, '../keys')).toBe('ask')
    expect(verdictOf(`${site.folder}/keys`, '../keys')).toBe('ask')
  })
})

/** Tests the rules that “Always” proposes: the narrowest first, none that would allow more than it says, and a reason if there is none. */
import { posix } from 'node:path'
import type { Rule, ToolCall } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type FileLookup, type Proposals, proposeRules, RuleSet, ruleProblem } from '../src/index.ts'
import { makeSite } from './support/node-files.ts'
import { contextAt } from './support/rule-context.ts'

// Every path exists and is not a link, and every name with a dot is a file.
const lookup: FileLookup = {
  realPath: posix.normalize,
  readText: () => null,
  list: path => (path.includes('.') ? null : []),
}
const context = contextAt({ folder: '/srv', cwd: '/srv', home: '/home/ada', files: lookup })
const call = (action: NonNullable<ToolCall['action']>): ToolCall => ({ tool: 'T', input: {}, cwd: '/srv', action })
const shell = (command: string, cwd = '/srv', input = {}): Proposals =>
  proposeRules({ tool: 'Bash', input: { command, ...input }, cwd }, context)

describe('rules that are proposed for a command', () => {
  it('for a command with known arguments, Holdpoint proposes the exact command, the program with harmless arguments, and the group', () => {
    expect(shell('ls  -l')).toEqual({
      reason: '',
      items: [
        {
          rule: { effect: 'allow', command: 'ls -l', scope: { cwd: '/srv' } },
          explanation: 'Run exactly “ls -l” in this folder.',
          runsProjectCode: false,
        },
        {
          rule: { effect: 'allow', command: 'ls', args: 'grammar', scope: { cwd: '/srv' } },
          explanation: 'Run “ls” in this folder with any arguments that Holdpoint knows to be harmless.',
          runsProjectCode: false,
        },
        {
          rule: { effect: 'allow', group: 'only-reads', scope: { cwd: '/srv' } },
          explanation: 'Run every command that only reads files in this folder.',
          runsProjectCode: false,
        },
      ],
    })
  })
  it('for a command of the project, Holdpoint also proposes the subcommand and the other group, and says that these rules run project code', () => {
    const { items } = shell('cargo test --lib', '/srv/sub')
    expect(items.map(({ rule }) => rule)).toEqual([
      { effect: 'allow', command: 'cargo test --lib', scope: { cwd: '/srv/sub' } },
      { effect: 'allow', command: 'cargo test', args: 'grammar', scope: { cwd: '/srv/sub' } },
      { effect: 'allow', group: 'project-code', scope: { cwd: '/srv' } },
    ])
    expect(items.map(({ runsProjectCode }) => runsProjectCode)).toEqual([true, true, true])
    expect(items[2]?.explanation).toBe('Run every command that tests, checks or builds this project.')
  })
  it('for a command with unknown arguments, Holdpoint proposes only the exact command, in canonical quoting', () => {
    expect(shell(`mytool "a b"`)).toMatchObject({
      reason: '',
      items: [{ rule: { effect: 'allow', command: `mytool 'a b'`, scope: { cwd: '/srv' } }, runsProjectCode: true }],
    })
    expect(shell(`mytool "a b"`).items).toHaveLength(1)
    expect(shell('ls --unknown').items.map(({ rule }) => rule.command)).toEqual(['ls --unknown'])
  })
  it('a command that starts another program gets no proposal, unless its arguments are known', () => {
    for (const command of [
      'node x.js',
      '/usr/bin/env ls',
      'timeout 5 ls',
      'docker run x',
      'git push',
      'uv run x',
      'BASH x',
    ])
      expect(shell(command)).toMatchObject({ items: [], reason: expect.stringMatching(/can run other programs/) })
    expect(shell('/usr/bin/env ls').reason).toMatch(/^\/usr\/bin\/env can run/)
    expect(shell('git status').items).toHaveLength(3)
    expect(shell('make --eval=x').items).toEqual([])
    expect(shell('rsync a b').items.map(({ rule }) => rule.command)).toEqual(['rsync a b'])
  })
  it('a command of several parts gets no proposal, and neither does a command that only changes the folder', () => {
    const several = 'A rule is for one command, and this one has several parts.'
    expect(shell('ls && ls')).toEqual({ items: [], reason: several })
    expect(shell('cd src && ls')).toEqual({ items: [], reason: several })
    expect(shell('cd src')).toEqual({
      items: [],
      reason: 'A rule for cd has no effect. Holdpoint follows cd by itself.',
    })
  })
  it('a command that no rule can allow gets no proposal, but a reason', () => {
    expect(shell('ls', '/srv', { sandbox: false })).toEqual({
      items: [],
      reason: 'No rule allows a command with the field "sandbox".',
    })
    expect(
      proposeRules({ tool: 'Bash', input: { command: 'ls ' }, cwd: '/srv' }, { ...context, isEditable: false }),
    ).toEqual({ items: [], reason: 'This agent cannot run the command as Holdpoint has read it.' })
  })
  it('Holdpoint proposes rules for the folder in which a command runs, even if the call names another folder', () => {
    const { items } = proposeRules(call({ shell: 'mytool', cwd: '/srv/sub' }), context)
    expect(items.map(({ rule }) => rule)).toEqual([{ effect: 'allow', command: 'mytool', scope: { cwd: '/srv/sub' } }])
  })
  it('a command that cannot be proven gets no proposal, but a reason', () => {
    expect(shell('ls $HOME')).toMatchObject({
      items: [],
      reason: expect.stringMatching(/^A rule needs a command that Holdpoint can read completely\. ./),
    })
  })
})

const files = (action: 'read' | 'write', ...paths: string[]) =>
  proposeRules(call(action === 'read' ? { read: paths } : { write: paths }), context)

describe('rules that are proposed for files', () => {
  it('a request for an ordinary file gets three proposals: exactly this file, its folder, and the folder of the session', () => {
    expect(files('write', 'src/a.ts').items).toEqual([
      {
        rule: { effect: 'allow', action: 'write', path: '/srv/src/a.ts', scope: { cwd: '/srv' } },
        explanation: 'Change exactly this file, whatever its content.',
        runsProjectCode: false,
      },
      {
        rule: { effect: 'allow', action: 'write', path: '/srv/src/**', scope: { cwd: '/srv' } },
        explanation: 'Change every file in /srv/src and below, except settings and secrets.',
        runsProjectCode: false,
      },
      {
        rule: { effect: 'allow', action: 'write', path: '/srv/**', scope: { cwd: '/srv' } },
        explanation: 'Change every file in /srv and below, except settings and secrets.',
        runsProjectCode: false,
      },
    ])
    expect(files('read', '/srv/a.ts').items.map(({ rule }) => rule.path)).toEqual(['/srv/a.ts', '/srv/**'])
    expect(files('read', '/srv/a.ts').items[0]?.explanation).toBe('Read exactly this file, whatever its content.')
    expect(files('read', '/srv/a.ts').reason).toBe('')
  })
  it('for a secret or protected file, or a file outside the folder, Holdpoint proposes only the exact file', () => {
    for (const path of ['/srv/.env', '/etc/hosts.conf']) {
      const { items, reason } = files('read', path)
      expect(items.map(({ rule }) => rule.path)).toEqual([path])
      expect(reason).not.toBe('')
    }
    expect(files('write', '/srv/package.json').items).toHaveLength(1)
  })
  it('a request for several files gets no proposal', () => {
    expect(files('read', 'a', 'b')).toEqual({
      items: [],
      reason: 'A rule is for one file, and this request names several.',
    })
  })
  it('a path that may mean several files gets no proposal, and neither does a file on another machine', () => {
    expect(files('read', '~/a')).toEqual({ items: [], reason: '“~/a” may start in a home folder.' })
    expect(proposeRules(call({ write: ['/srv/a'] }), { ...context, files: null })).toEqual({
      items: [],
      reason: 'The files of the agent are on another machine.',
    })
  })
  it('in a proposed rule, a relative path of the call is resolved from the folder of the call', () => {
    const { items } = proposeRules({ ...call({ read: ['a.ts'] }), cwd: '/srv/src' }, context)
    expect(items.map(({ rule }) => rule.path)).toEqual(['/srv/src/a.ts', '/srv/src/**', '/srv/**'])
  })
})

describe('rules that are proposed for other actions', () => {
  it('for a fetch, Holdpoint proposes its host, and for an MCP call its tool, in the folder of the session', () => {
    expect(proposeRules(call({ fetch: 'docs.example.com' }), context)).toEqual({
      reason: '',
      items: [
        {
          rule: { effect: 'allow', action: 'fetch', host: 'docs.example.com', scope: { cwd: '/srv' } },
          explanation: 'Fetch anything from docs.example.com, in sessions in this folder.',
          runsProjectCode: false,
        },
      ],
    })
    expect(proposeRules(call({ mcp: 'github', tool: 'search' }), context)).toEqual({
      reason: '',
      items: [
        {
          rule: { effect: 'allow', mcp: { server: 'github', tool: 'search' }, scope: { cwd: '/srv' } },
          explanation: 'Use the tool search of the MCP server github with any input, in sessions in this folder.',
          runsProjectCode: false,
        },
      ],
    })
  })
  it('a fetch from an invalid host name gets no proposal', () => {
    expect(proposeRules(call({ fetch: 'a b' }), context)).toMatchObject({
      items: [],
      reason: expect.stringMatching(/^"a b" is not the name of a host\./),
    })
  })
  it('a tool that Holdpoint does not know gets no proposal', () => {
    expect(proposeRules(call({ other: 'Strange' }), context)).toEqual({
      items: [],
      reason: 'Holdpoint does not know what Strange does, so a person has to decide each time.',
    })
  })
  it('no rule is proposed for a command with too many files to look up', () => {
    const list = () => Array.from({ length: 13_000 }, (_, index) => ({ name: `${index}`, kind: 'file' as const }))
    const large = { ...context, files: { realPath: posix.normalize, readText: () => null, list } }
    expect(proposeRules({ tool: 'Bash', input: { command: 'grep -r x src' }, cwd: '/srv' }, large)).toEqual({
      items: [],
      reason: 'This call names too many files to check, so a person has to decide each time.',
    })
  })
  it('no rule is proposed if the folder in which the agent runs is not known', () => {
    for (const action of [{ shell: 'ls', cwd: '/srv' }, { fetch: 'a.test' }, { read: ['/srv/a.ts'] }])
      expect(proposeRules(call(action), { ...context, folder: null })).toEqual({
        items: [],
        reason: 'Holdpoint does not know in which folder this agent runs.',
      })
  })
})

describe('every proposed rule', () => {
  const site = makeSite({ 'a.ts': '', 'src/b.ts': '', 'package.json': '{"scripts":{"test":"vitest"}}' })
  const real = contextAt(site)
  const inFolder = (cwd: string, action: NonNullable<ToolCall['action']>): ToolCall =>
    'shell' in action ? { tool: 'Bash', input: { command: action.shell }, cwd } : { tool: 'T', input: {}, cwd, action }
  const commands = ['ls  src', 'git -C src status', 'npm -s test', './node_modules/.bin/tsc --noEmit', 'mytool "a b"']
  const builtins = ['[ -f a.ts ]', 'command -v node', 'node --test', 'sed -n 1p a.ts', 'ls > /dev/null']
  const actions: readonly NonNullable<ToolCall['action']>[] = [
    ...[...commands, ...builtins].map(shell => ({ shell, cwd: '' })),
    { read: ['a.ts'] },
    { write: ['src/b.ts'] },
    { fetch: 'docs.example.com' },
    { mcp: 'github', tool: 'search' },
  ]
  it.each(actions)('every proposed rule for %j can be saved, and allows the same from then on', action => {
    for (const cwd of [site.folder, `${site.folder}/src`]) {
      const asked = inFolder(cwd, action)
      const { items } = proposeRules(asked, real)
      expect(items).not.toEqual([])
      for (const { rule } of items) {
        expect(ruleProblem(rule)).toBe(null)
        const id = 'rul_00000000000000000009' as Rule['id'] // a valid id
        const saved = { ...rule, id, madeBy: 'ada', madeAt: 0, version: 1 }
        expect(new RuleSet([saved]).evaluate(asked, real), JSON.stringify(rule)).toMatchObject({ verdict: 'allow' })
      }
    }
  })
})

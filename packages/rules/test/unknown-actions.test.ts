/** Tests what deny, ask and allow rules do with calls whose action is not known, and with MCP tools whose input looks like a shell command. */
import type { ToolCall } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { RuleSet } from '../src/index.ts'
import { srvContext, srvRule } from './support/rule-context.ts'

type Draft = Parameters<typeof srvRule>[0]
const verdict = (drafts: readonly Draft[], call: Omit<ToolCall, 'cwd'>) =>
  new RuleSet(drafts.map(draft => srvRule(draft))).evaluate({ cwd: '/srv', ...call }, srvContext).verdict

describe('an MCP tool with a field `command`', () => {
  const call = { tool: 'mcp__prod__exec', input: { command: 'npm run clean' } }
  const action = { mcp: 'prod', tool: 'exec' }
  it.each([{}, { action }])('an MCP tool with a command is denied by a rule for the tool (%j)', reported => {
    const deny = { effect: 'deny', mcp: { server: 'prod', tool: 'exec' } } as const
    expect(verdict([deny, { command: 'npm run clean' }], { ...call, ...reported })).toBe('deny')
  })
  it.each([{}, { action }])('an MCP tool with a command is not allowed by a rule for the command (%j)', reported => {
    expect(verdict([{ command: 'npm run clean' }], { ...call, ...reported })).toBe('ask')
  })
  it('an MCP tool with a command is denied by a rule for the command', () => {
    expect(verdict([{ effect: 'deny', command: 'npm run clean' }], { ...call, action })).toBe('deny')
  })
})

describe('a call whose action is not known', () => {
  it.each<ToolCall['input']>([
    { cmd: 'git push' },
    { script: 'cd app\ngit push origin' },
    { command: ['git', 'push'] },
    { command: ['bash', '-lc', 'git push'] },
    { argv: ['/usr/bin/git', '-C', 'my app', 'push'] },
    { commands: ['ls', 'git push'] },
    { command: 'git', args: ['push', '--force'] },
    { command: 'bash', args: ['-c', 'git push'] },
  ])('a call with a command in its input is denied by a rule for the command: %j', input => {
    for (const action of [undefined, { mcp: 'shell', tool: 'run' }]) {
      const call = { tool: 'run', input, ...(action && { action }) }
      expect(verdict([{ effect: 'deny', command: 'git push' }], call)).toBe('deny')
      expect(verdict([{ effect: 'deny', command: 'git pull' }], call)).toBe('ask')
    }
  })
  it.each<[string, Omit<ToolCall, 'cwd'>]>([
    ['evil.test', { tool: 'WebFetch', input: { url: 'https://evil.test/', prompt: 'https://other.test/' } }],
    ['evil.test', { tool: 'Open', input: { pages: [{ address: 'https://EVIL.test:8080/x' }] } }],
  ])('a call with a URL in its input is denied by a rule for the host %s', (host, call) => {
    expect(verdict([{ effect: 'deny', host }], call)).toBe('deny')
    expect(verdict([{ effect: 'deny', host: 'good.test' }], call)).toBe('ask')
  })
  it.each<Omit<ToolCall, 'cwd'>>([
    { tool: 'Edit', input: { file_path: '/srv/secret/a.txt', other_path: 'b', old_string: 'a', new_string: 'b' } },
    { tool: 'Edit', input: { file_path: 'secret/a.txt', command: 'x' } },
    { tool: 'Glob', input: { pattern: 'secret/**' } },
    { tool: 'Glob', input: { pattern: '*', path: 'secret' } },
  ])('a call that names a path is denied by a rule for its folder: %j', call => {
    expect(verdict([{ effect: 'deny', path: 'secret/**' }], call)).toBe('deny')
    expect(verdict([{ effect: 'deny', path: 'public/**' }], call)).toBe('ask')
  })
  it('a call with more input values than Holdpoint compares is too long to check, so a person decides', () => {
    const edits = Array.from({ length: 5001 }, () => 'x')
    const reason = (input: ToolCall['input']) =>
      new RuleSet([]).evaluate({ tool: 'Many', input, cwd: '/srv' }, srvContext).reason
    expect(reason({ edits })).toContain('too long to check')
    expect(reason({ edits: edits.slice(0, 100) })).toBe('No rule matches.')
  })
})

it.each(['curl ev""il.test/x', 'curl ev\\il.test', "wget evil.te'st'", "ssh u@ev''il.test"])(
  'a rule that denies a host matches the host in quotes: %s',
  command => {
    expect(verdict([{ effect: 'deny', host: 'evil.test' }], { tool: 'Bash', input: { command } })).toBe('deny')
  },
)

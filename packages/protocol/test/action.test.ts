/** Tests what a call does: the action that its input shows, and claims of agents that the input does not show. */
import { describe, expect, it } from 'vitest'
import { type Action, actionOf, actionProblem, editedCall, type JsonObject } from '../src/index.ts'

const callOf = (input: JsonObject, action?: Action, tool = 'Tool') => ({ tool, input, cwd: '/srv', action })

describe('actionOf', () => {
  it('actionOf treats the text in the field "command" as a shell command, whatever the name of the tool', () => {
    expect(actionOf(callOf({ command: 'git push' }))).toEqual({ shell: 'git push', cwd: '/srv' })
    expect(actionOf(callOf({ command: ['git', 'push'] }))).toEqual({ other: 'Tool' })
  })
})

describe('actionProblem', () => {
  const shown: readonly (readonly [string, JsonObject, Action, string])[] = [
    ['a command', { command: 'ls' }, { shell: 'ls', cwd: '/srv' }, 'Tool'],
    ['a file', { file_path: 'a.txt', content: 'x' }, { write: ['a.txt'] }, 'Tool'],
    ['files in a list', { edits: [{ path: 'a' }, { path: 'b' }] }, { write: ['b', 'a'] }, 'Tool'],
    ['a URL', { url: 'https://docs.example/a' }, { fetch: 'docs.example' }, 'Tool'],
    ['a host', { host: 'docs.example' }, { fetch: 'docs.example' }, 'Tool'],
    ['an MCP tool in the name', {}, { mcp: 'github', tool: 'get__issue' }, 'mcp__github__get__issue'],
    ['an MCP tool in the input', { server: 'github' }, { mcp: 'github', tool: 'get_issue' }, 'get_issue'],
    ['the tool', {}, { other: 'Tool' }, 'Tool'],
  ]
  it.each(shown)('an action is accepted if the input shows %s', (_, input, action, tool) => {
    expect(actionProblem(callOf(input, action, tool))).toBeNull()
  })
  it('actionProblem returns null for a call without an action', () => {
    expect(actionProblem(callOf({ command: 'ls' }))).toBeNull()
  })

  const refused: readonly (readonly [string, JsonObject, Action])[] = [
    ['another command', { command: 'rm -rf ~' }, { shell: 'npm test', cwd: '/srv' }],
    ['another folder', { command: 'npm test' }, { shell: 'npm test', cwd: '/other' }],
    ['a fetch for a command', { command: 'git push', url: 'https://docs.example' }, { fetch: 'docs.example' }],
    ['a read for a command', { command: 'rm -rf ~', path: 'a' }, { read: ['a'] }],
    ['a command that is elsewhere', { argv: ['rm'], note: 'npm test' }, { shell: 'npm test', cwd: '/srv' }],
    ['a file that is not named', { file_path: 'a' }, { read: ['b'] }],
    ['a file that is only mentioned', { file_path: '/etc/passwd', note: 'README.md' }, { read: ['README.md'] }],
    ['one of two files', { paths: ['a', 'b'] }, { write: ['a'] }],
    ['a host that is not named', { url: 'https://evil.example' }, { fetch: 'docs.example' }],
    ['one of two hosts', { url: 'https://evil.example', from: 'https://docs.example' }, { fetch: 'docs.example' }],
    ['an MCP tool that is not named', {}, { mcp: 'github', tool: 'get_issue' }],
    ['the file of a very long list', { paths: Array<string>(6000).fill('a') }, { read: ['a'] }],
    ['another tool', {}, { other: 'Read' }],
  ]
  it.each(refused)('an action is refused if it says %s', (_, input, action) => {
    expect(actionProblem(callOf(input, action))).toMatch(/^action: /)
  })
})

describe('editedCall', () => {
  const cwd = '/srv'
  const call = (input: JsonObject, action: Action) => ({ tool: 'Tool', cwd, input, action })
  const edited = (before: JsonObject, action: Action, after: JsonObject) =>
    editedCall(call(before, action), after).action
  it.each<[what: string, before: JsonObject, action: Action, after: JsonObject, expected: Action]>([
    ['a command', { command: 'ls' }, { shell: 'ls', cwd }, { command: 'rm x' }, { shell: 'rm x', cwd }],
    [
      'another field beside the command',
      { command: 'ls', description: 'a' },
      { shell: 'ls', cwd },
      { command: 'ls', description: 'b' },
      { shell: 'ls', cwd },
    ],
    [
      'a command in the shell of the agent',
      { command: "bash -lc 'ls'" },
      { shell: 'ls', cwd },
      { command: "bash -lc 'rm x'" },
      { shell: "bash -lc 'rm x'", cwd },
    ],
    [
      'a path',
      { file_path: '/a', content: 'x' },
      { write: ['/a'] },
      { file_path: '/b', content: 'x' },
      { write: ['/b'] },
    ],
    [
      'a text beside a path',
      { file_path: '/a', old: 'x' },
      { read: ['/a'] },
      { file_path: '/a', old: 'y' },
      { read: ['/a'] },
    ],
    [
      'a field beside a list of paths',
      { files: ['/a', '/b'], mode: 'x' },
      { write: ['/a', '/b'] },
      { files: ['/a', '/b'], mode: 'y' },
      { write: ['/a', '/b'] },
    ],
    [
      'a URL',
      { url: 'https://a.example/x' },
      { fetch: 'a.example' },
      { url: 'https://b.example' },
      { fetch: 'b.example' },
    ],
    [
      'a text beside a URL',
      { url: 'https://a.example/x', prompt: 'p' },
      { fetch: 'a.example' },
      { url: 'https://a.example/x', prompt: 'q' },
      { fetch: 'a.example' },
    ],
  ])('the action of a call with an edited input follows %s', (_what, before, action, after, expected) => {
    expect(edited(before, action, after)).toEqual(expected)
  })
  it.each<[what: string, before: JsonObject, action: Action, after: JsonObject]>([
    ['the words of a command', { command: ['ls', 'a'] }, { shell: 'ls a', cwd }, { command: ['rm', 'a'] }],
    ['a list of paths', { files: ['/a'] }, { write: ['/a'] }, { files: ['/b'] }],
    ['a pattern from which the folder was derived', { pattern: '/a/*' }, { read: ['/a'] }, { pattern: '/b/*' }],
    ['an empty path', { file_path: '/a' }, { write: ['/a'] }, { file_path: '' }],
    ['a list of URLs', { urls: ['https://a.example'] }, { fetch: 'a.example' }, { urls: ['https://b.example'] }],
  ])('if %s was edited, the input does not show what the call does', (_what, before, action, after) => {
    expect(edited(before, action, after)).toEqual({ other: 'Tool' })
  })
})

/** Tests how the hooks of each agent are read, what their calls do in Holdpoint's words, and what is printed for the agent. */
import { describe, expect, it } from 'vitest'
import { parseHook, type TerminalAgent, terminalAgents } from '../src/index.ts'

const { claude, codex, gemini } = terminalAgents
const patch = (...lines: readonly string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
const describePatch = (text: string) => codex.describe({ tool: 'apply_patch', input: { command: text }, cwd: '/p' })

describe('the hooks of agents in a terminal', () => {
  it.each(Object.entries(terminalAgents))(
    'the hooks of %s ignore input that no known hook sends',
    (_name, agent: TerminalAgent) => {
      for (const text of ['', 'null', '[]', '{"hook_event_name":"Other","session_id":"s","cwd":"/"}'])
        expect(parseHook(agent, text)).toBeNull()
    },
  )

  it('a patch of Codex in a terminal is described as a write of its files, and not as a shell command', () => {
    const text = patch('*** Update File: a.ts', '*** Move to: b.ts', '@@', '-old', '+new', '*** Delete File: /p/c.ts')
    expect(describePatch(text)).toEqual({
      tool: 'apply_patch',
      input: { paths: ['a.ts', 'b.ts', '/p/c.ts'], patch: text },
      cwd: '/p',
      action: { write: ['a.ts', 'b.ts', '/p/c.ts'] },
    })
  })

  it.each([
    patch('*** Update File: a.ts', ' *** Add File: hidden.ts', '+text'),
    patch('*** Rename File: a.ts', '+text'),
    'no patch',
  ])('a patch of Codex whose files cannot be determined is not described as a write: %j', text => {
    expect(describePatch(text)).toMatchObject({ input: { patch: text }, action: { other: 'apply_patch' } })
  })

  it('the answer to a hook of Codex contains only fields that Codex supports, because Codex ignores an answer with any other field', () => {
    const allow = codex.format({
      kind: 'permission',
      result: { behavior: 'allow', updatedInput: { command: 'ls' }, updatedPermissions: [] },
    })
    expect(allow).toEqual({
      hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
    })
    const deny = codex.format({ kind: 'permission', result: { behavior: 'deny', message: 'no', interrupt: true } })
    expect(deny).toMatchObject({ hookSpecificOutput: { decision: { behavior: 'deny', message: 'no' } } })
    expect(JSON.stringify(deny)).not.toContain('interrupt')
  })

  it('the reason that Codex adds to the input of a permission is not part of the call', () => {
    const text = JSON.stringify({
      hook_event_name: 'PermissionRequest',
      session_id: 's',
      cwd: '/p',
      tool_name: 'Bash',
      tool_input: { command: 'ls', description: 'look around' },
    })
    expect(parseHook(codex, text)).toMatchObject({ input: { command: 'ls' }, description: 'look around' })
  })

  it('a call of an MCP tool by Gemini contains the name of the server, so that rules for the server apply', () => {
    const text = JSON.stringify({
      hook_event_name: 'BeforeTool',
      session_id: 's',
      cwd: '/p',
      tool_name: 'mcp_tracker_create',
      tool_input: { title: 'x' },
      mcp_context: { server_name: 'tracker', tool_name: 'create' },
    })
    const event = parseHook(gemini, text)
    expect(event).toMatchObject({ kind: 'before', tool: 'mcp__tracker__create' })
    expect(gemini.describe({ tool: 'mcp__tracker__create', input: { title: 'x' }, cwd: '/p' }).action).toEqual({
      mcp: 'tracker',
      tool: 'create',
    })
  })

  it('calls of Gemini are described by what they do, with the folder in which a command runs', () => {
    const of = (tool: string, input: Record<string, string>) => gemini.describe({ tool, input, cwd: '/p' })
    expect(of('run_shell_command', { command: 'ls', dir_path: 'sub' }).cwd).toBe('/p/sub')
    expect(of('write_file', { file_path: '/p/a.ts', content: 'x' }).action).toEqual({ write: ['/p/a.ts'] })
    expect(of('read_file', { file_path: 'a.ts' }).action).toEqual({ read: ['a.ts'] })
    expect(of('google_web_search', { query: 'x' }).action).toBeUndefined()
  })

  it('the reply “ask” to a hook makes Claude Code and Gemini ask in the terminal', () => {
    expect(claude.format({ kind: 'ask', reason: 'why' })).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'why' },
    })
    expect(gemini.format({ kind: 'ask', reason: 'why' })).toMatchObject({ decision: 'ask', reason: 'why' })
  })
})

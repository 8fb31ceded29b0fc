import type { JsonObject } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { isShownByRequest, outputText, type ToolEntry, toolSummary, toolView } from '../src/index.ts'

const view = (tool: string, input: JsonObject) => toolView({ tool, input })

describe('the view of a tool call', () => {
  it('the view of a tool call shows commands of every agent with their folder', () => {
    expect(view('Bash', { command: 'ls', description: 'List' })).toEqual({
      kind: 'command',
      command: 'ls',
      cwd: null,
      rest: { description: 'List' },
    })
    expect(view('exec_command', { command: 'ls', cwd: '/a' })).toMatchObject({ cwd: '/a', rest: {} })
    expect(view('run_shell_command', { command: 'ls' })).toMatchObject({ kind: 'command' })
  })
  it('the view of a tool call shows edits of Claude Code, opencode, Codex and agents of the Agent Client Protocol as changes', () => {
    const edits = [{ before: 'a', after: 'b' }]
    expect(view('Edit', { file_path: '/f', old_string: 'a', new_string: 'b', replace_all: true })).toEqual({
      kind: 'changes',
      files: [{ path: '/f', kind: 'edit', edits }],
      rest: { replace_all: true },
    })
    expect(view('edit', { filePath: '/f', oldString: 'a', newString: 'b' })).toMatchObject({
      files: [{ path: '/f', edits }],
      rest: {},
    })
    expect(
      view('MultiEdit', { file_path: '/f', edits: [{ old_string: 'a', new_string: 'b', replace_all: false }] }),
    ).toMatchObject({ files: [{ edits }], rest: {} })
    expect(view('Write', { file_path: '/f', content: 'b' })).toMatchObject({
      files: [{ kind: 'write', edits: [{ before: '', after: 'b' }] }],
    })
    expect(view('other', { changes: [{ path: '/f', old_string: 'a', new_string: 'b' }] })).toMatchObject({
      files: [{ path: '/f', edits }],
    })
    const diff = '@@ -1 +1 @@\n-a\n+b\n'
    expect(
      view('apply_patch', {
        changes: [
          { path: '/f', kind: 'update', diff },
          { path: '/g', kind: 'add', diff: 'new\n' },
          { path: '/h', kind: 'delete', diff: 'old\n' },
        ],
      }),
    ).toMatchObject({
      files: [
        { path: '/f', kind: 'edit', edits: [{ before: 'a\n', after: 'b\n', header: '@@ -1 +1 @@' }] },
        { path: '/g', kind: 'write', edits: [{ before: '', after: 'new\n' }] },
        { path: '/h', kind: 'delete', edits: [{ before: 'old\n', after: '' }] },
      ],
      rest: {},
    })
    expect(view('apply_patch', { changes: [{ path: '/f', kind: 'update', diff: 'unreadable' }] })).toMatchObject({
      files: [{ diff: 'unreadable', edits: [] }],
    })
  })
  it('the view of a tool call shows to-do lists of Claude Code, opencode, Gemini and Codex', () => {
    const items = [
      { text: 'Test', state: 'done' },
      { text: 'Ship', state: 'active' },
    ]
    const todos = (name: string) => [
      { [name]: 'Test', status: 'completed' },
      { [name]: 'Ship', status: 'in_progress' },
    ]
    expect(view('TodoWrite', { todos: todos('content').map(item => ({ ...item, activeForm: 'Doing' })) })).toEqual({
      kind: 'todo',
      items,
      rest: {},
    })
    expect(
      view('todowrite', { todos: todos('content').map((item, id) => ({ ...item, id, priority: 'high' })) }),
    ).toMatchObject({ items })
    expect(view('write_todos', { todos: todos('description') })).toMatchObject({ items })
    expect(view('update_plan', { plan: todos('step'), explanation: 'why' })).toMatchObject({
      items,
      rest: { explanation: 'why' },
    })
  })
  it('the view of a tool call shows calls that read, search, list, start subagents or use the web', () => {
    expect(view('Read', { file_path: '/f', offset: 10, limit: 5 })).toEqual({
      kind: 'read',
      path: '/f',
      from: 10,
      lines: 5,
      rest: {},
    })
    expect(view('Grep', { pattern: 'a+', path: 'src', glob: '*.ts', output_mode: 'content' })).toEqual({
      kind: 'search',
      pattern: 'a+',
      path: 'src',
      files: '*.ts',
      rest: { output_mode: 'content' },
    })
    expect(view('Glob', { pattern: '**/*.ts' })).toMatchObject({ kind: 'search', path: null })
    expect(view('LS', { path: '/a' })).toMatchObject({ kind: 'list', path: '/a' })
    expect(view('Task', { description: 'Look', prompt: 'Look at it', subagent_type: 'reviewer' })).toEqual({
      kind: 'task',
      description: 'Look',
      prompt: 'Look at it',
      agent: 'reviewer',
      rest: {},
    })
    expect(view('WebFetch', { url: 'https://example.com', prompt: 'Sum up' })).toMatchObject({
      kind: 'fetch',
      prompt: 'Sum up',
      rest: {},
    })
    expect(view('WebSearch', { query: 'weather', allowed_domains: ['a'] })).toMatchObject({
      kind: 'webSearch',
      rest: { allowed_domains: ['a'] },
    })
    expect(
      view('NotebookEdit', { notebook_path: '/n.ipynb', cell_id: 'c1', new_source: 'x', edit_mode: 'insert' }),
    ).toMatchObject({ kind: 'notebook', cell: 'c1', rest: { edit_mode: 'insert' } })
  })
  it('the view of a tool call shows the whole input as fields for an unknown tool, and for a known tool with unexpected values', () => {
    for (const [tool, input] of [
      ['Lint', { strict: true }],
      ['TodoWrite', { todos: [{ content: 'a', status: 'strange' }] }],
      ['TodoWrite', { todos: [{ content: 'a', status: 'pending', hidden: 'x' }] }],
      ['MultiEdit', { file_path: '/f', edits: [{ old_string: 'a', new_string: 'b', extra: 1 }] }],
      ['Read', { file_path: 7 }],
      ['apply_patch', { changes: [{ path: '/f', kind: 'update', diff: 'd', mode: '0777' }] }],
    ] as const) {
      const found = view(tool, input as unknown as JsonObject)
      expect(found, tool).toEqual({ kind: 'fields', rest: input })
    }
  })
})

describe('the summary of a tool call', () => {
  const about = (input: ToolEntry['input'], title?: string) =>
    toolSummary({ tool: 'Tool', input, inputText: 'so far', ...(title && { title }) }).head

  it('`toolSummary` returns the command, the file, or the most descriptive input', () => {
    expect(about({ command: 'ls', description: 'List' })).toBe('ls')
    expect(about({ file_path: '/a', content: 'x' })).toBe('/a')
    expect(about({ file_path: '/a', limit: 3 })).toBe('/a')
    expect(about({ zeta: 'z', pattern: 'TODO' })).toBe('TODO')
    expect(about({ n: 1, words: 'w' })).toBe('w')
    expect(about({ n: 1 })).toBe('')
    expect(about({ command: 'ls' }, 'A title')).toBe('A title')
    expect(about(null)).toBe('so far')
    expect(about({ command: 'one\ntwo' })).toBe('one ↵ two')
    expect(about({ command: 'ls' }, 'A title\nof two lines')).toBe('A title ↵ of two lines')
    expect(toolSummary({ tool: 'Bash', input: { command: 'x'.repeat(1000) }, inputText: '' })).toMatchObject({
      omitted: 700,
      isCode: true,
    })
  })
  it('`outputText` returns the result as text, or null for JSON', () => {
    expect(outputText('a')).toBe('a')
    expect(
      outputText([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ).toBe('a\nb')
    expect(outputText([{ type: 'text', text: 'a', hidden: 1 }])).toBeNull()
    expect(outputText([{ type: 'image' }])).toBeNull()
    expect(outputText([])).toBeNull()
    expect(outputText(null)).toBeNull()
  })
  it('`isShownByRequest` recognizes the questions of an agent, unless the call failed', () => {
    const asked = { tool: 'AskUserQuestion', input: { questions: [] }, state: 'running' } as const
    expect(isShownByRequest(asked)).toBe(true)
    expect(isShownByRequest({ ...asked, state: 'failed' })).toBe(false)
    expect(isShownByRequest({ ...asked, tool: 'mcp__survey__create' })).toBe(false)
    expect(isShownByRequest({ ...asked, input: null })).toBe(false)
  })
})

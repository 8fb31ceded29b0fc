/** The page of `run` and `tui` that shows a tool call in full. */
import type { ToolEntry } from '@holdpoint/client'
import { describe, expect, it } from 'vitest'
import { ToolOutputPage } from '../src/tui/pages/tool-output-page.ts'

function pageLines(call: Partial<ToolEntry>): readonly string[] {
  const whole: ToolEntry = {
    kind: 'tool',
    id: 't',
    at: 0,
    tool: 'Tool',
    input: null,
    inputText: '',
    state: 'ok',
    agentPath: [],
    output: 'done',
    ...call,
  }
  const lines = new ToolOutputPage(() => [whole]).lines(60, 40)
  return lines
    .map(line =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
    .filter(line => line !== '')
}

describe('the page with a tool call', () => {
  it('the page with a tool call shows a change as a diff with line numbers, and the other parameters as JSON', () => {
    const input = { file_path: '/a.ts', old_string: 'one\ntwo', new_string: 'one\nTWO', replace_all: true }
    expect(pageLines({ tool: 'Edit', input })).toEqual([
      'Tool call 1 of 1  Edit  done',
      'Edit        /a.ts',
      '  │ 1   one',
      '  │ 2 - two',
      '  │ 2 + TWO',
      'Other parameters',
      '  │ {"replace_all":true}',
      'Output',
      '  │ done',
    ])
  })
  it('the page with a tool call shows a to-do list with the state of each item', () => {
    const todos = [
      { content: 'Read', status: 'completed' },
      { content: 'Fix', status: 'in_progress' },
      { content: 'Test', status: 'pending' },
      { content: 'Ship', status: 'cancelled' },
    ]
    expect(pageLines({ tool: 'todowrite', input: { todos } }).slice(1, 5)).toEqual([
      '  ✓ Read',
      '  ▸ Fix',
      '  · Test',
      '  – Ship (canceled)',
    ])
  })
  it('the page with a tool call shows every part of the input of a command, a subagent, a search, a fetch and a notebook', () => {
    const shown = (tool: string, input: NonNullable<ToolEntry['input']>) => pageLines({ tool, input }).slice(1, -2)
    expect(shown('Bash', { command: 'ls', cwd: '/srv', description: 'List' })).toEqual([
      'In          /srv',
      '  │ ls',
      'Other parameters',
      '  │ {"description":"List"}',
    ])
    expect(shown('Task', { description: 'Look', prompt: 'Look at\nall', subagent_type: 'Explore' })).toEqual([
      'Subagent    Explore',
      '  │ Look',
      '  │ Look at',
      '  │ all',
    ])
    expect(shown('Grep', { pattern: 'TODO', path: 'src', glob: '*.ts' })).toEqual([
      'Pattern     TODO',
      'In          src',
      'Files       *.ts',
    ])
    expect(shown('Read', { file_path: '/a', offset: 3, limit: 2 })).toEqual([
      'File        /a',
      'From line   3',
      'Lines       2',
    ])
    expect(shown('WebFetch', { url: 'https://a.example', prompt: 'Sum' })).toEqual([
      'Address     https://a.example',
      '  │ Sum',
    ])
    expect(shown('WebSearch', { query: 'cats' })).toEqual(['  │ cats'])
    expect(shown('LS', { path: '/a' })).toEqual(['In          /a'])
    expect(shown('NotebookEdit', { notebook_path: '/n', cell_id: '3', new_source: 'x' })).toEqual([
      'File        /n',
      'Cell        3',
      '  │ x',
    ])
    expect(shown('mcp__a__b', { count: 1 })).toEqual(['  │ {"count":1}'])
  })
  it('the page with a tool call shows an output of several text blocks as text', () => {
    const output = [
      { type: 'text', text: 'a\nb' },
      { type: 'text', text: 'c' },
    ]
    expect(pageLines({ input: {}, output }).slice(-3)).toEqual(['  │ a', '  │ b', '  │ c'])
  })
})

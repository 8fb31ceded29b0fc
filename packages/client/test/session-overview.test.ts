import { describe, expect, it } from 'vitest'
import { type Entry, findEntries, sessionOverview } from '../src/index.ts'

let count = 0
const tool = (name: string, input: object, state = 'ok', output?: unknown) =>
  ({
    kind: 'tool',
    id: `t${count++}`,
    at: 0,
    tool: name,
    input,
    inputText: '',
    state,
    agentPath: [],
    output,
  }) as unknown as Entry
const said = (text: string, role = 'person') =>
  ({ kind: 'message', id: `m${count++}`, at: 0, role, text, streaming: false, partial: false, agentPath: [] }) as Entry
const turn = () => ({ kind: 'turn', id: `e${count++}`, at: 5, ending: 'done' }) as Entry

describe('the overview of a session', () => {
  it('the overview of a session counts the added and removed lines of each file, and ignores calls that failed or are not finished', () => {
    const edit = (state: string) =>
      tool('Edit', { file_path: '/a.ts', old_string: 'one\ntwo', new_string: 'one\n2\n3' }, state)
    const { files, added, removed } = sessionOverview([
      edit('ok'),
      edit('failed'),
      edit('running'),
      tool('Write', { file_path: '/b.ts', content: 'x\ny\n' }),
      edit('ok'),
    ])
    expect(files.map(file => [file.path, file.added, file.removed, file.changes.length])).toEqual([
      ['/a.ts', 4, 2, 2],
      ['/b.ts', 2, 0, 1],
    ])
    expect({ added, removed }).toEqual({ added: 6, removed: 2 })
  })
  it('the overview of a session has the newest to-do list', () => {
    const list = (status: string) => tool('TodoWrite', { todos: [{ content: 'Test', status }] })
    expect(sessionOverview([]).todo).toBeNull()
    expect(sessionOverview([list('pending'), list('completed')]).todo).toEqual([{ text: 'Test', state: 'done' }])
  })
  it('the overview of a session outlines the turns with their tool calls', () => {
    const first = said('Do it')
    const { turns } = sessionOverview([
      first,
      tool('Bash', { command: 'ls' }),
      said('Done', 'agent'),
      turn(),
      said('More'),
    ])
    expect(turns).toHaveLength(2)
    expect(turns[0]).toMatchObject({ start: first, tools: 1, errors: 0, end: { ending: 'done' } })
    expect(turns[1]?.end).toBeUndefined()
    const streaming = { ...said('So far', 'agent'), at: Number.MAX_SAFE_INTEGER }
    expect(sessionOverview([streaming]).turns[0]?.startedAt).toBeNull()
  })
  it('the overview of a session finds entries by their text, input and output, in upper or lower case', () => {
    const call = tool('Bash', { command: 'npm test' }, 'ok', [{ type: 'text', text: '12 Passed' }])
    const entries = [said('Please TEST it'), call, said('Something else')]
    expect(findEntries(entries, 'test')).toEqual([entries[0]?.id, call.id])
    expect(findEntries(entries, 'passed')).toEqual([call.id])
    expect(findEntries(entries, '')).toEqual([])
  })
})

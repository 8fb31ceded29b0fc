/** Decides how page and terminal present a tool call of the common agents. Properties that a view does not include are in its `rest`, which must be shown as well, so that nothing of the input is hidden. */
import type { JsonObject } from '@holdpoint/protocol'
import type { TextEdit } from './ask-view.ts'
import { unifiedEdits } from './unified-edits.ts'

/** What a tool call does to one file. */
export interface FileEdits {
  readonly path: string
  readonly kind: 'write' | 'edit' | 'delete' | 'move'
  readonly edits: readonly TextEdit[]
  /** The agent's own diff, if it cannot be read as edits. */
  readonly diff?: string
  readonly movedTo?: string
}
export interface TodoItem {
  readonly text: string
  readonly state: 'pending' | 'active' | 'done' | 'canceled'
}
interface Rest {
  readonly rest: JsonObject
}
export type ToolView = Rest &
  (
    | { readonly kind: 'command'; readonly command: string; readonly cwd: string | null }
    | { readonly kind: 'changes'; readonly files: readonly FileEdits[] }
    | { readonly kind: 'todo'; readonly items: readonly TodoItem[] }
    | { readonly kind: 'read'; readonly path: string; readonly from: number | null; readonly lines: number | null }
    | { readonly kind: 'search'; readonly pattern: string; readonly path: string | null; readonly files: string | null }
    | { readonly kind: 'list'; readonly path: string }
    | { readonly kind: 'task'; readonly description: string; readonly agent: string | null; readonly prompt: string }
    | { readonly kind: 'fetch'; readonly url: string; readonly prompt: string | null }
    | { readonly kind: 'webSearch'; readonly query: string }
    | { readonly kind: 'notebook'; readonly path: string; readonly cell: string | null; readonly source: string }
    | { readonly kind: 'fields' }
  )

/** An input from which readers take one property after another. `rest` has the properties that nobody has taken. */
class Input {
  readonly #left: Map<string, unknown>

  constructor(input: JsonObject) {
    this.#left = new Map(Object.entries(input))
  }
  get rest(): JsonObject {
    return Object.fromEntries(this.#left) as JsonObject // the entries come from a JSON object
  }
  has(name: string): boolean {
    return this.#left.has(name)
  }
  peek(name: string): unknown {
    return this.#left.get(name)
  }
  /** Takes the first of these properties whose value is a text. */
  text(...names: readonly string[]): string | null {
    const name = names.find(each => typeof this.#left.get(each) === 'string')
    return name === undefined ? null : (this.take(name) as string) // the line above checks the type
  }
  number(...names: readonly string[]): number | null {
    const name = names.find(each => Number.isInteger(this.#left.get(each)))
    return name === undefined ? null : (this.take(name) as number) // the line above checks the type
  }
  take(name: string): unknown {
    const value = this.#left.get(name)
    this.#left.delete(name)
    return value
  }
}

const pathNames = [
  'file_path',
  'filePath',
  'absolute_path',
  'target_file',
  'notebook_path',
  'path',
  'dir_path',
] as const

/** Chooses a view by the shape of the input. The name of the tool only decides between inputs of the same shape. */
export function toolView({ tool, input }: { readonly tool: string; readonly input: JsonObject }): ToolView {
  const readers = [commandView, todoView, changesView, notebookView, fetchView, searchView, taskView, pathView]
  for (const read of readers) {
    const left = new Input(input)
    const view = read(left, tool)
    if (view) return { ...view, rest: left.rest }
  }
  return { kind: 'fields', rest: input }
}

type Reader = (input: Input, tool: string) => WithoutRest<ToolView> | null
type WithoutRest<T> = T extends unknown ? Omit<T, 'rest'> : never

const commandView: Reader = input => {
  const command = input.text('command', 'cmd')
  return command === null ? null : { kind: 'command', command, cwd: input.text('cwd', 'workdir') }
}

const todoView: Reader = (input, tool) => {
  const name = ['todos', 'plan'].find(each => Array.isArray(input.peek(each)))
  if (name === undefined || (name === 'plan' && !/plan/i.test(tool))) return null
  const items = (input.peek(name) as readonly unknown[]).map(todoItem)
  if (items.length === 0 || items.some(item => item === null)) return null
  input.take(name)
  return { kind: 'todo', items: items.filter(item => item !== null) }
}

const todoStates: Readonly<Record<string, TodoItem['state']>> = {
  pending: 'pending',
  in_progress: 'active',
  inProgress: 'active',
  completed: 'done',
  cancelled: 'canceled',
}
/** Properties of an item besides its text and state that need not be shown: they repeat the text, or number the items. */
const todoExtras = new Set(['activeForm', 'id', 'priority'])

function todoItem(value: unknown): TodoItem | null {
  if (typeof value !== 'object' || value === null) return null
  const item = new Input(value as JsonObject) // every value comes from parsed JSON
  const text = item.text('content', 'step', 'description', 'title')
  const status = item.text('status')
  const state = status !== null && Object.hasOwn(todoStates, status) ? todoStates[status] : undefined
  const isComplete = Object.keys(item.rest).every(name => todoExtras.has(name))
  return text === null || !state || !isComplete ? null : { text, state }
}

const changesView: Reader = input => {
  const listed = listedChanges(input.peek('changes'))
  if (listed) {
    input.take('changes')
    return { kind: 'changes', files: listed }
  }
  const path = input.text('file_path', 'filePath', 'path')
  if (path === null) return null
  const content = input.text('content')
  if (content !== null)
    return { kind: 'changes', files: [{ path, kind: 'write', edits: [{ before: '', after: content }] }] }
  const edits = takeEdits(input)
  return edits && { kind: 'changes', files: [{ path, kind: 'edit', edits }] }
}

function takeEdits(input: Input): readonly TextEdit[] | null {
  if (Array.isArray(input.peek('edits'))) {
    const edits = (input.peek('edits') as readonly unknown[]).map(value => {
      const edit = new Input(Object(value))
      const single = takeEdit(edit)
      // The view shows only the two texts of an edit. If an edit sets `replace_all` or another property, the whole input is shown as it is.
      return Object.keys(edit.rest).every(name => name === 'replace_all' && edit.peek(name) === false) ? single : null
    })
    if (edits.length === 0 || edits.some(edit => edit === null)) return null
    input.take('edits')
    return edits.filter(edit => edit !== null)
  }
  const edit = takeEdit(input)
  return edit && [edit]
}

function takeEdit(input: Input): TextEdit | null {
  const before = input.text('old_string', 'oldString')
  const after = input.text('new_string', 'newString')
  return before === null || after === null ? null : { before, after }
}

/** Reads a change of several files, as the drivers of Codex, opencode and agents of the Agent Client Protocol send it. Returns null if the list has anything else. */
export function listedChanges(value: unknown): readonly FileEdits[] | null {
  if (!Array.isArray(value) || value.length === 0) return null
  const files = value.map(listedChange)
  return files.every(file => file !== null) ? files : null
}

function listedChange(value: unknown): FileEdits | null {
  const change = new Input(Object(value))
  const path = change.text('path')
  if (path === null) return null
  const edit = takeEdit(change)
  if (edit) return isEmpty(change) ? { path, kind: edit.before === '' ? 'write' : 'edit', edits: [edit] } : null
  const kind = change.text('kind')
  const diff = change.text('diff')
  const movedTo = change.text('move_path')
  if (diff === null || !isEmpty(change) || (movedTo !== null && kind !== 'update')) return null
  const moved = movedTo === null ? {} : { movedTo }
  if (kind === 'add') return { path, kind: 'write', edits: [{ before: '', after: diff }] }
  if (kind === 'delete') return { path, kind: 'delete', edits: [{ before: diff, after: '' }] }
  if (kind !== 'update') return null
  const edits = unifiedEdits(diff)
  const to = movedTo === null ? ('edit' as const) : ('move' as const)
  return edits ? { path, kind: to, edits, ...moved } : { path, kind: to, edits: [], diff, ...moved }
}

function isEmpty(input: Input): boolean {
  return Object.keys(input.rest).length === 0
}

const notebookView: Reader = input => {
  const path = input.text('notebook_path')
  const source = input.text('new_source')
  return path === null || source === null ? null : { kind: 'notebook', path, cell: input.text('cell_id'), source }
}

const fetchView: Reader = (input, tool) => {
  const url = input.text('url')
  if (url !== null) return { kind: 'fetch', url, prompt: input.text('prompt') }
  if (!/search/i.test(tool)) return null
  const query = input.text('query')
  return query === null ? null : { kind: 'webSearch', query }
}

const searchView: Reader = input => {
  const pattern = input.text('pattern')
  if (pattern === null) return null
  return { kind: 'search', pattern, path: input.text('path', 'dir_path'), files: input.text('glob', 'include') }
}

const taskView: Reader = (input, tool) => {
  const isTask = /^(?:task|agent)$/i.test(tool) || input.has('subagent_type')
  const prompt = isTask ? input.text('prompt') : null
  if (prompt === null) return null
  return { kind: 'task', prompt, description: input.text('description') ?? '', agent: input.text('subagent_type') }
}

const pathView: Reader = (input, tool) => {
  const path = input.text(...pathNames)
  if (path === null) return null
  if (/^(?:ls|list|list_?dir(?:ectory)?)$/i.test(tool)) return { kind: 'list', path }
  if (!/^(?:read|view|read_?file|view_?image|open)$/i.test(tool)) return null
  return { kind: 'read', path, from: input.number('offset', 'start_line'), lines: input.number('limit') }
}

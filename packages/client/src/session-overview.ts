/** Summarizes loaded transcript entries: the files that the agent changed, its current to-do list, and an outline of the turns. */
import { diffLines, lineCount } from './line-diff.ts'
import { type FileEdits, type TodoItem, toolView } from './tool-view.ts'
import type { Entry, ToolEntry } from './transcript-entry.ts'

export interface ChangedFile {
  readonly path: string
  readonly added: number
  readonly removed: number
  /** The changes in the order in which they were made, each with the tool call that made it. */
  readonly changes: readonly { readonly entry: ToolEntry; readonly file: FileEdits }[]
}
export interface OutlineTurn {
  /** The entry with which the turn starts: the person's message, or else the first entry. */
  readonly start: Entry
  /** When the turn started; null while its first entry is still being streamed, because such entries have no time. */
  readonly startedAt: number | null
  readonly tools: number
  readonly requests: readonly Extract<Entry, { readonly kind: 'request' }>[]
  readonly errors: number
  /** The end of the turn; missing while the turn runs. */
  readonly end?: Extract<Entry, { readonly kind: 'turn' }>
}
export interface SessionOverview {
  readonly files: readonly ChangedFile[]
  readonly added: number
  readonly removed: number
  /** The newest to-do list; null if the agent wrote none. */
  readonly todo: readonly TodoItem[] | null
  readonly turns: readonly OutlineTurn[]
}

export function sessionOverview(entries: readonly Entry[]): SessionOverview {
  const files = new Map<
    string,
    { path: string; added: number; removed: number; changes: ChangedFile['changes'][number][] }
  >()
  let todo: readonly TodoItem[] | null = null
  for (const entry of entries) {
    if (entry.kind !== 'tool' || !entry.input) continue
    const { changes, todo: newTodo } = factsOf(entry)
    if (newTodo && entry.state !== 'failed') todo = newTodo
    // A call that is unfinished or has failed has not changed the file.
    if (entry.state !== 'ok') continue
    for (const { file, added, removed } of changes) {
      const known = files.get(file.path) ?? { path: file.path, added: 0, removed: 0, changes: [] }
      files.set(file.path, {
        ...known,
        added: known.added + added,
        removed: known.removed + removed,
        changes: [...known.changes, { entry, file }],
      })
    }
  }
  const changed = [...files.values()]
  return {
    files: changed,
    added: changed.reduce((sum, file) => sum + file.added, 0),
    removed: changed.reduce((sum, file) => sum + file.removed, 0),
    todo,
    turns: turnsOf(entries),
  }
}

interface ToolFacts {
  readonly changes: readonly { readonly file: FileEdits; readonly added: number; readonly removed: number }[]
  readonly todo: readonly TodoItem[] | null
}
/** Caches what a tool call changes, by its input, because comparing texts takes time and inputs never change. */
const knownFacts = new WeakMap<object, ToolFacts>()
const noFacts: ToolFacts = { changes: [], todo: null }

function factsOf({ tool, input }: ToolEntry): ToolFacts {
  if (!input) return noFacts
  const known = knownFacts.get(input)
  if (known) return known
  const view = toolView({ tool, input })
  const changes = view.kind === 'changes' ? view.files.map(file => ({ file, ...countLines(file) })) : []
  const facts = { changes, todo: view.kind === 'todo' ? view.items : null }
  knownFacts.set(input, facts)
  return facts
}

/** Longer texts are not compared: all their old lines count as removed, all new ones as added. */
const comparedLinesMax = 5000

function countLines({ edits, diff }: FileEdits): { readonly added: number; readonly removed: number } {
  if (diff !== undefined) return { added: countMatches(diff, /^\+/gm), removed: countMatches(diff, /^-/gm) }
  const total = edits.reduce((sum, { before, after }) => sum + lineCount(before) + lineCount(after), 0)
  if (total <= comparedLinesMax) return countRows(edits)
  const count = (text: string) => (text === '' ? 0 : lineCount(text.replace(/\n$/, '')))
  return {
    added: edits.reduce((sum, edit) => sum + count(edit.after), 0),
    removed: edits.reduce((sum, edit) => sum + count(edit.before), 0),
  }
}

/** Counts changed lines. The empty line after a final line feed is not a line of the file. */
function countRows(edits: FileEdits['edits']): { readonly added: number; readonly removed: number } {
  const withoutEnd = (text: string) => text.replace(/\n$/, '')
  return diffLines(edits.map(({ before, after }) => ({ before: withoutEnd(before), after: withoutEnd(after) })))
}

function countMatches(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length
}

type MutableTurn = { -readonly [Name in keyof OutlineTurn]: OutlineTurn[Name] }

function turnsOf(entries: readonly Entry[]): readonly OutlineTurn[] {
  const turns: MutableTurn[] = []
  for (const entry of entries) {
    const last = turns.at(-1)
    const startsTurn = entry.kind === 'message' && entry.role === 'person'
    if (entry.kind === 'note' && (!last || last.end)) continue
    const turn: MutableTurn = !last || last.end || startsTurn ? newTurn(entry) : last
    if (turn !== last) turns.push(turn)
    if (entry.kind === 'tool') turn.tools++
    if (entry.kind === 'request') turn.requests = [...turn.requests, entry]
    if (entry.kind === 'error') turn.errors++
    if (entry.kind === 'turn') turn.end = entry
  }
  return turns
}

function newTurn(start: Entry): OutlineTurn {
  const isStreaming = start.at === Number.MAX_SAFE_INTEGER
  return { start, startedAt: isStreaming ? null : start.at, tools: 0, requests: [], errors: 0 }
}

/** Returns the part of an entry that a search covers, as one text. */
function searchableText(entry: Entry): string {
  switch (entry.kind) {
    case 'message':
    case 'note':
      return entry.text
    case 'error':
      return entry.message
    case 'turn':
      return ''
    case 'tool':
      return [entry.tool, entry.title ?? '', textsIn(entry.input ?? entry.inputText), textsIn(entry.output)].join('\n')
    case 'request':
      return textsIn(entry.request.ask)
  }
}

/** Returns all texts in a JSON value. */
function textsIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  return typeof value === 'object' && value !== null ? Object.values(value).map(textsIn).join('\n') : ''
}

/** Returns the ids of the entries that contain the text, oldest first. Case is ignored. */
export function findEntries(entries: readonly Entry[], query: string): readonly string[] {
  const wanted = query.toLowerCase()
  if (wanted === '') return []
  return entries.filter(entry => lowerCaseText(entry).includes(wanted)).map(({ id }) => id)
}

/** Caches the text of each entry in lower case. Each streamed word changes the list of entries, but never an entry itself. */
const knownTexts = new WeakMap<Entry, string>()

function lowerCaseText(entry: Entry): string {
  const known = knownTexts.get(entry)
  if (known !== undefined) return known
  const text = searchableText(entry).toLowerCase()
  knownTexts.set(entry, text)
  return text
}

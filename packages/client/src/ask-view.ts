/** Decides how page and terminal present an ask. Every property of the input is shown somewhere. */
import {
  type ApprovalAsk,
  type Ask,
  actionOf,
  type Comment,
  isCallTitle,
  type JsonObject,
  limits,
} from '@holdpoint/protocol'
import { type CutText, exactText, labelText, omissionMarker, plainText, singleLineCut } from './display-text.ts'
import { type FileEdits, listedChanges } from './tool-view.ts'

export interface TextEdit {
  readonly before: string
  readonly after: string
  /** The header of this part in the agent's diff, which says where in the file the part is. */
  readonly header?: string
}
/** A view of an approval's input. `rest` contains the input properties that the view does not include, which must be shown as well. */
export type AskView =
  | { readonly kind: 'command'; readonly command: string; readonly rest: JsonObject }
  | {
      readonly kind: 'change'
      readonly path: string
      readonly edits: readonly TextEdit[]
      readonly isNew: boolean
      readonly rest: JsonObject
    }
  | { readonly kind: 'changes'; readonly files: readonly FileEdits[]; readonly rest: JsonObject }
  | { readonly kind: 'plan'; readonly plan: string; readonly rest: JsonObject }
  | { readonly kind: 'fields'; readonly rest: JsonObject }

/** Chooses a view by the shape of the input, not by the name of the tool. */
export function viewOf({ input, plan }: Pick<ApprovalAsk, 'input' | 'plan'>): AskView {
  if (plan !== undefined) return { kind: 'plan', plan, rest: input.plan === plan ? without(input, 'plan') : input }
  const { command, file_path: path } = input
  if (typeof command === 'string') return { kind: 'command', command, rest: without(input, 'command') }
  if (typeof path !== 'string') {
    const files = listedChanges(input.changes)
    return files ? { kind: 'changes', files, rest: without(input, 'changes') } : { kind: 'fields', rest: input }
  }
  const content = input.content
  if (typeof content === 'string')
    return {
      kind: 'change',
      path,
      edits: [{ before: '', after: content }],
      isNew: true,
      rest: without(input, 'file_path', 'content'),
    }
  const single = editOf(input)
  if (single)
    return {
      kind: 'change',
      path,
      edits: [single],
      isNew: false,
      rest: without(input, 'file_path', 'old_string', 'new_string'),
    }
  const several = editsOf(input)
  if (several) return { kind: 'change', path, isNew: false, ...several }
  return { kind: 'fields', rest: input }
}

/** Labels of well-known tools, for asks whose action is unknown. Page and terminal show any other tool by its name. */
const toolLabels: Readonly<Record<string, string>> = {
  Bash: 'Run a command',
  PowerShell: 'Run a command',
  Write: 'Write a file',
  Edit: 'Change a file',
  MultiEdit: 'Change a file',
  Read: 'Read a file',
  // `holdpoint ask` and generator agents use this tool.
  confirm: 'Confirm',
}

/** Returns what an approval does in our words, such as “Run a command”, or null if only the agent's name of the tool says it. Agents have different names for the same tools, so the action comes first. */
export function knownAction(ask: ApprovalAsk): string | null {
  const { tool } = ask
  const action = actionOf(ask)
  if ('shell' in action) return 'Run a command'
  if ('write' in action) {
    if (action.write.length > 1) return `Change ${action.write.length} files`
    const view = viewOf(ask)
    return view.kind === 'change' && view.isNew ? 'Write a file' : 'Change a file'
  }
  if ('read' in action) return action.read.length === 1 ? 'Read a file' : 'Read files'
  if ('fetch' in action) return 'Fetch from the web'
  return Object.hasOwn(toolLabels, tool) ? (toolLabels[tool] ?? null) : null
}

/** Returns the tool, and its MCP server if it has one. Without an action, splits a name in the form that Claude Code uses for tools of MCP servers, such as `mcp__tracker__create_issue`. */
export function toolName({ tool, action }: Pick<ApprovalAsk, 'tool' | 'action'>): {
  readonly name: string
  readonly server: string | null
} {
  if (action && 'mcp' in action) return { name: action.tool, server: action.mcp }
  const [, server, name] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? []
  return server !== undefined && name !== undefined ? { name, server } : { name: tool, server: null }
}

/** Returns a label for what the agent asks, such as “Run a command”. The label is escaped for display. */
export function actionLabel(ask: Ask): string {
  switch (ask.kind) {
    case 'questions':
      return ask.questions.length === 1 ? 'A question' : `${ask.questions.length} questions`
    case 'form':
      return ask.url === undefined ? 'Fill in a form' : 'Open a link'
    case 'approval':
      if (ask.plan !== undefined) return 'Approve a plan'
      return knownAction(ask) ?? toolLabel(ask)
  }
}

function toolLabel(ask: ApprovalAsk): string {
  const { name, server } = toolName(ask)
  return server === null ? `Use ${quotedName(name)}` : `Use ${quotedName(name)} from ${quotedName(server)} (MCP)`
}

/** Puts a name that an agent chose in quotation marks, so that it cannot be mistaken for Holdpoint's own text. Quotation marks in the name are escaped. */
function quotedName(name: string): string {
  return `“${exactText(name).replace(/[“”]/g, mark => `\\u{${mark.charCodeAt(0).toString(16)}}`)}”`
}

/** The agent's own text about a request in one line, for lists. A long text is cut in its middle. The parts are not escaped. */
export interface AskSummary extends CutText {
  /** True for a command or a path, false for a title or a question. */
  readonly isCode: boolean
}

const summaryMax = 300

/** Returns the command, the path, the first line of the plan, the title or the questions. A summary does not replace the full text, which people must see before they answer. */
export function summary(ask: Ask, max = summaryMax): AskSummary {
  const { text, isCode } = subject(ask)
  return { ...singleLineCut(text, max), isCode }
}

/** Returns the summary of an ask as one escaped string. */
export function summaryText(ask: Ask, max = summaryMax): string {
  return shownSummary(summary(ask, max))
}

/** Returns a summary as one escaped string, for surfaces that draw right-to-left letters in their own order. */
export function shownSummary({ head, omitted, tail, isCode }: AskSummary): string {
  const shown = isCode ? exactText : labelText
  return `${shown(head)}${omissionMarker(omitted)}${shown(tail)}`
}

function subject(ask: Ask): { readonly text: string; readonly isCode: boolean } {
  switch (ask.kind) {
    case 'questions':
      return { text: ask.questions.map(question => question.question).join(' · '), isCode: false }
    case 'form':
      return { text: ask.title, isCode: false }
    case 'approval': {
      const view = viewOf(ask)
      if (view.kind === 'command') return { text: view.command, isCode: true }
      if (view.kind === 'change') return { text: view.path, isCode: true }
      // The title is the same for every plan, so it says less than the first line.
      return { text: (view.kind === 'plan' && plainText(firstLine(view.plan))) || ask.title, isCode: false }
    }
  }
}

/** Returns the agent's title, or null if the title only repeats what is shown anyway, such as "Bash: npm test" above `npm test`. */
export function informativeTitle(ask: ApprovalAsk): string | null {
  if (ask.plan !== undefined || isCallTitle(ask)) return null
  const title = ask.title.replace(/…$/, '').trim()
  const bare = title.startsWith(`${ask.tool}: `) ? title.slice(ask.tool.length + 2) : title
  const values = Object.values(ask.input).filter(value => typeof value === 'string')
  const shown = [actionLabel(ask), ask.tool, JSON.stringify(ask.input), ...values]
  const repeatsTitle = (line: string) => line.startsWith(bare) || line.endsWith(`/${bare}`)
  return shown.some(text => repeatsTitle(firstLine(text))) ? null : ask.title
}

function firstLine(text: string): string {
  const trimmed = text.trimStart()
  const end = trimmed.indexOf('\n')
  return (end === -1 ? trimmed : trimmed.slice(0, end)).trimEnd()
}

/** Returns the ask with the input that runs, and with its plan (G7). Returns the ask itself if there is no other input. */
export function effectiveAsk<T extends Ask>(ask: T, input: JsonObject | null | undefined): T {
  if (ask.kind !== 'approval' || !input || input === ask.input) return ask
  const { plan } = input
  return { ...ask, input, ...(ask.plan !== undefined && typeof plan === 'string' && { plan }) }
}

function without(input: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)))
}

function editOf(value: unknown): TextEdit | null {
  if (typeof value !== 'object' || value === null) return null
  const { old_string: before, new_string: after } = value as Readonly<Record<string, unknown>> // `value` is an object, and missing properties are undefined
  return typeof before === 'string' && typeof after === 'string' ? { before, after } : null
}

/** Parses the `edits` property of an input. Returns null if an edit has properties besides `old_string` and `new_string` that `rest` cannot show for all edits together. */
function editsOf(input: JsonObject): { readonly edits: readonly TextEdit[]; readonly rest: JsonObject } | null {
  const { edits } = input
  if (!Array.isArray(edits) || edits.length === 0) return null
  const parsed = edits.map(edit => (Object.keys(edit ?? {}).every(name => editNames.has(name)) ? editOf(edit) : null))
  if (!parsed.every(edit => edit !== null)) return null
  const flags = new Set(edits.map(edit => (edit as JsonObject).replace_all)) // `editOf` has found an object
  const rest = without(input, 'file_path', 'edits')
  if (flags.size === 1 && flags.has(undefined)) return { edits: parsed, rest }
  const [replaceAll, ...others] = flags
  const isSame = others.length === 0 && typeof replaceAll === 'boolean' && !Object.hasOwn(input, 'replace_all')
  return isSame ? { edits: parsed, rest: { ...rest, replace_all: replaceAll } } : null
}
const editNames: ReadonlySet<string> = new Set(['old_string', 'new_string', 'replace_all'])

/** Returns what a view changes in which files. */
export function changedFiles(view: AskView): readonly FileEdits[] {
  if (view.kind === 'changes') return view.files
  return view.kind === 'change' ? [{ path: view.path, kind: view.isNew ? 'write' : 'edit', edits: view.edits }] : []
}

/** Returns the place and the quotation for a comment on a line: of a plan or a command, or of the new text of a change. Returns null if there is no such line, or if it is unclear which of the changed files the path means. */
export function lineOf(ask: ApprovalAsk, line: number, path?: string): Omit<Comment, 'text'> | null {
  const view = viewOf(ask)
  if (view.kind === 'command' || view.kind === 'plan')
    return path === undefined ? quotedLine(view.kind === 'plan' ? view.plan : view.command, line) : null
  const files = changedFiles(view)
  const exact = files.filter(file => file.path === path)
  const named = exact.length > 0 ? exact : files.filter(file => path === undefined || isSamePath(file.path, path))
  const [file, ...otherFiles] = named
  const [edit, ...otherEdits] = file?.edits ?? []
  if (!file || !edit || file.kind === 'delete' || otherFiles.length > 0 || otherEdits.length > 0) return null
  const quoted = quotedLine(edit.after, line)
  return quoted && { path: file.path, ...quoted, ...(file.kind !== 'write' && { side: 'after' as const }) }
}

function quotedLine(text: string, line: number): Omit<Comment, 'text'> | null {
  const found = text.split('\n')[line - 1]
  return found === undefined ? null : { line, quote: quotationOf(found) }
}

/** Cuts a line to the length of a quotation. */
export function quotationOf(line: string): string {
  return line.replace(/\r$/, '').slice(0, limits.quoteMax).toWellFormed()
}

function isSamePath(whole: string, typed: string): boolean {
  return whole.endsWith(`/${typed}`)
}

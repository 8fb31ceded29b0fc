/** What an ask shows to a person: the same picture on the page and in a terminal. Nothing of an input is left out. */
import type { ApprovalAsk, Ask, JsonObject, Resolution } from '@holdpoint/protocol'
import { displayText, singleLine } from './display-text.ts'

export interface TextEdit {
  readonly before: string
  readonly after: string
}
/** `rest` is what the picture itself does not show: a surface shows that too. */
export type AskView =
  | { readonly kind: 'command'; readonly command: string; readonly rest: JsonObject }
  | {
      readonly kind: 'change'
      readonly path: string
      readonly parts: readonly TextEdit[]
      readonly isNew: boolean
      readonly rest: JsonObject
    }
  | { readonly kind: 'plan'; readonly plan: string; readonly rest: JsonObject }
  | { readonly kind: 'fields'; readonly rest: JsonObject }

/** Tools whose input carries the text of a whole file, not of a part of one. */
const wholeFile = 'content'

export function viewOf({ input, plan }: Pick<ApprovalAsk, 'input' | 'plan'>): AskView {
  if (plan !== undefined) return { kind: 'plan', plan, rest: input.plan === plan ? without(input, 'plan') : input }
  const { command, file_path: path } = input
  if (typeof command === 'string') return { kind: 'command', command, rest: without(input, 'command') }
  if (typeof path !== 'string') return { kind: 'fields', rest: input }
  const text = input[wholeFile]
  if (typeof text === 'string')
    return {
      kind: 'change',
      path,
      parts: [{ before: '', after: text }],
      isNew: true,
      rest: without(input, 'file_path', wholeFile),
    }
  const one = partOf(input)
  if (one)
    return {
      kind: 'change',
      path,
      parts: [one],
      isNew: false,
      rest: without(input, 'file_path', 'old_string', 'new_string'),
    }
  const many = partsOf(input.edits)
  if (many) return { kind: 'change', path, parts: many, isNew: false, rest: without(input, 'file_path', 'edits') }
  return { kind: 'fields', rest: input }
}

/** What the tools do whose names we know. Another tool is called by its name, whatever its input looks like. */
const actionLabels: Readonly<Record<string, string>> = {
  Bash: 'Run a command',
  PowerShell: 'Run a command',
  Write: 'Write a file',
  Edit: 'Change a file',
  MultiEdit: 'Change a file',
  Read: 'Read a file',
  // What a script or an agent of one's own asks with.
  confirm: 'Confirm',
}

/** What a well-known tool does, such as “Run a command”; null for any other tool. */
export function knownAction(tool: string): string | null {
  return Object.hasOwn(actionLabels, tool) ? (actionLabels[tool] ?? null) : null
}

/** The name of a tool without its MCP server: Claude Code calls a server's tool `mcp__tracker__create_issue`. */
export function toolName(tool: string): { readonly name: string; readonly server: string | null } {
  const [, server, name] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? []
  return server !== undefined && name !== undefined ? { name, server } : { name: tool, server: null }
}

/** What it wants to do, in our words. */
export function actionLabel(ask: Ask): string {
  switch (ask.kind) {
    case 'questions':
      return ask.questions.length === 1 ? 'A question' : `${ask.questions.length} questions`
    case 'form':
      return ask.url === undefined ? 'Fill in a form' : 'Open a link'
    case 'approval':
      if (ask.plan !== undefined) return 'Approve a plan'
      return knownAction(ask.tool) ?? toolLabel(ask.tool)
  }
}

function toolLabel(tool: string): string {
  const { name, server } = toolName(tool)
  return server === null ? `Use ${displayText(name)}` : `${displayText(server)}: ${displayText(name)} (MCP)`
}

/** What is asked, in one line of the agent's own words: not yet shown. */
export function summary(ask: Ask): string {
  return singleLine(subject(ask))
}

function subject(ask: Ask): string {
  switch (ask.kind) {
    case 'questions':
      return ask.questions.map(question => question.question).join(' · ')
    case 'form':
      return ask.title
    case 'approval': {
      const picture = viewOf(ask)
      if (picture.kind === 'command') return picture.command
      return picture.kind === 'change' ? picture.path : ask.title
    }
  }
}

/** Where a person edited the input, that is what ran (G7). */
export function effectiveAsk(ask: Ask, resolution: Resolution | null): Ask {
  const answer = resolution?.answer
  if (ask.kind !== 'approval' || answer?.kind !== 'allow' || !answer.input) return ask
  const plan = answer.input.plan
  return { ...ask, input: answer.input, ...(ask.plan !== undefined && typeof plan === 'string' && { plan }) }
}

function without(input: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)))
}

function partOf(value: unknown): TextEdit | null {
  if (typeof value !== 'object' || value === null) return null
  const { old_string: before, new_string: after } = value as Readonly<Record<string, unknown>> // any object has members, or not
  return typeof before === 'string' && typeof after === 'string' ? { before, after } : null
}

/** Only where an edit is nothing but its two texts: whatever else it says would not be seen. */
function partsOf(edits: unknown): readonly TextEdit[] | null {
  if (!Array.isArray(edits) || edits.length === 0) return null
  const parts = edits.map(edit => (Object.keys(edit ?? {}).length === 2 ? partOf(edit) : null))
  return parts.every(part => part !== null) ? parts : null
}

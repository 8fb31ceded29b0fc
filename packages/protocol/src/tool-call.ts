/** What a tool call does: the action that its agent reports, or the action that its input shows. */
import type { Action, ActionKind } from './action.ts'
import { canonicalJson, type Json, type JsonObject } from './json.ts'

export function actionKind(action: Action): ActionKind {
  if ('shell' in action) return 'shell'
  if ('write' in action) return 'write'
  if ('read' in action) return 'read'
  if ('fetch' in action) return 'fetch'
  return 'mcp' in action ? 'mcp' : 'other'
}

/** The parts of a tool call that decide what it does. */
export interface ToolCall {
  readonly tool: string
  readonly input: JsonObject
  readonly cwd: string
  readonly action?: Action | undefined
}

/** Returns what a call does. Agents that connect by themselves may leave out the action. Then the name of a tool can say that it belongs to an MCP server, whose calls run no shell of this machine. A text in the field `command` of any other tool is a shell command, and nothing else is known. */
export function actionOf({ tool, input, cwd, action }: ToolCall): Action {
  if (action) return action
  const mcp = mcpActionOf(tool)
  if (mcp) return mcp
  return typeof input.command === 'string' ? { shell: input.command, cwd } : { other: tool }
}

/** Returns the MCP server and its tool that the name of a tool contains, as in `mcp__server__tool`. */
function mcpActionOf(tool: string): Extract<Action, { mcp: string }> | null {
  const [, mcp = '', name = ''] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? []
  return mcp === '' ? null : { mcp, tool: name }
}

/**
 * Returns why the action that an agent reports about its own call cannot be used, or null if the input shows the same action.
 * Without this check, rules and people could decide about another call than the one that the agent runs. The digest covers the action, so the gateway cannot correct the action.
 */
export function actionProblem(call: ToolCall): string | null {
  const { input, cwd, action } = call
  if (!action) return null
  if ('mcp' in action && call.tool === `mcp__${action.mcp}__${action.tool}`) return null
  if (typeof input.command === 'string') {
    const isSame = 'shell' in action && action.shell === input.command && action.cwd === cwd
    return isSame
      ? null
      : 'action: the input has a "command", so the action can only be {"shell": that command, "cwd": the cwd of the ask}; leave the action out'
  }
  if ('shell' in action) return 'action: put the shell command into the field "command" of the input'
  return isShownByInput(call, action)
    ? null
    : `action: the input does not show the same as this ${actionKind(action)} action; name exactly what the input contains, or leave the action out`
}

function isShownByInput({ tool, input }: ToolCall, action: Exclude<Action, { shell: string }>): boolean {
  const texts = textsIn(input)
  if (texts === null) return false
  const values = new Set(texts.map(({ value }) => value))
  const has = (text: string) => values.has(text)
  if ('write' in action || 'read' in action) {
    const named = new Set('write' in action ? action.write : action.read)
    return [...named].every(has) && texts.every(({ field, value }) => !isPathField(field) || named.has(value))
  }
  if ('fetch' in action) {
    const hosts = texts.map(({ value }) => hostOf(value)).filter(host => host !== '')
    return hosts.every(host => host === action.fetch) && (hosts.length > 0 || has(action.fetch))
  }
  if ('mcp' in action)
    return (
      tool === `mcp__${action.mcp}__${action.tool}` || (has(action.mcp) && (tool === action.tool || has(action.tool)))
    )
  return action.other === tool
}

export interface FieldText {
  /** The name of the field whose value is the text, or a list that contains the text. */
  readonly field: string
  readonly value: string
}

/** Comparing more values with an action would block the gateway for too long. */
const comparedValuesMax = 5000

/** Returns all texts of an input, or null if it has too many values. */
export function textsIn(input: JsonObject): readonly FieldText[] | null {
  const texts: FieldText[] = []
  let count = 0
  const rest: { readonly field: string; readonly value: Json | undefined }[] = [{ field: '', value: input }]
  for (let next = rest.pop(); next; next = rest.pop()) {
    const { field, value } = next
    if (++count > comparedValuesMax) return null
    if (typeof value === 'string') texts.push({ field, value })
    else if (Array.isArray(value)) for (const item of value) rest.push({ field, value: item })
    else if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) rest.push({ field: name, value: item })
  }
  return texts
}

const pathFieldEnds = ['path', 'paths', 'file', 'files', 'filename']
/** Returns whether a field with this name usually contains a path. */
export function isPathField(field: string): boolean {
  return pathFieldEnds.some(end => field.toLowerCase().endsWith(end))
}

/**
 * Returns the call with an edited input. The action follows the input: a text of the action that occurs in an edited field is replaced by the new text of that field.
 * If the edited input does not show what the call does, the action is `other`.
 */
export function editedCall<T extends ToolCall>(call: T, input: JsonObject): T {
  const { action, tool } = call
  return action
    ? { ...call, input, action: editedAction(action, call.input, input) ?? { other: tool } }
    : { ...call, input }
}

function editedAction(action: Action, before: JsonObject, after: JsonObject): Action | null {
  const fields = Object.keys({ ...before, ...after }).map(name => ({
    texts: textsIn({ [name]: before[name] ?? null })?.map(({ value }) => value),
    before: before[name],
    after: after[name],
    isEdited: canonicalJson(before[name] ?? null) !== canonicalJson(after[name] ?? null),
  }))
  if (!fields.some(({ isEdited }) => isEdited)) return action
  /** Returns the new text for a text of the action, or null if the input does not show the new text. */
  const edited = (isText: (value: string) => boolean): string | null => {
    const found = fields.filter(({ texts }) => texts?.some(isText))
    const changed = found.filter(({ isEdited }) => isEdited)
    const [first] = changed.length > 0 ? changed : found
    if (first === undefined || (changed.length > 0 && typeof first.before !== 'string')) return null
    const [text] = first.isEdited ? [first.after] : (first.texts?.filter(isText) ?? [])
    return typeof text === 'string' && text !== '' ? text : null
  }
  if ('shell' in action) {
    // The agent may have put the command into a shell, which its driver has removed from the action.
    const shell = edited(text => text === action.shell) ?? after.command
    return typeof shell === 'string' ? { ...action, shell } : null
  }
  if ('write' in action || 'read' in action) {
    const paths = ('write' in action ? action.write : action.read).map(path => edited(text => text === path))
    if (!paths.every(path => path !== null)) return null
    return 'write' in action ? { write: paths } : { read: paths }
  }
  if ('fetch' in action) {
    const url = edited(text => text === action.fetch || hostOf(text) === action.fetch)
    const host = url === null ? '' : hostOf(url) || hostOf(`https://${url}`)
    return host === '' ? null : { fetch: host }
  }
  return action
}

/** Returns the host of a URL as browsers and fetch understand it, without the port; an empty text if this is not a URL of a host. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}

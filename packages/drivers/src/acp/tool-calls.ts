/** Reads what a tool call of an agent does: its name, its input, and the action that rules and risk use. */
import { isAbsolute, join } from 'node:path'
import type { ToolCallContent, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk'
import { type Action, callTitles, hostOf, type JsonObject, limits, truncateTitle } from '@holdpoint/protocol'
import { z } from 'zod'
import { acpCalls } from './messages.ts'
import type { AcpProfile } from './profiles.ts'

/** A tool call as the agent has described it so far, in one or more updates. */
export type KnownCall = Omit<ToolCallUpdate, 'sessionUpdate'>

export interface DescribedCall {
  readonly tool: string
  readonly title: string
  readonly input: JsonObject
  readonly action: Action
}

/** Joins what was known about a call with an update. Fields that the update leaves out keep their values. */
export function mergeCall(known: KnownCall | undefined, update: KnownCall): KnownCall {
  const given = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined && value !== null))
  // An empty list or an empty input does not replace the earlier description of a call.
  for (const name of ['content', 'locations', 'rawInput'] as const)
    if (known?.[name] && isEmpty(given[name])) delete given[name]
  const meta = { ...known?._meta, ...update._meta }
  return { ...known, ...given, toolCallId: update.toolCallId, _meta: meta }
}

export function describeCall(call: KnownCall, profile: AcpProfile, folder: string): DescribedCall {
  const tool = toolOf(call)
  const kind = kindOf(call, profile, tool)
  const command = kind === 'execute' ? shellCommand(call, profile) : null
  const title = (call.title ?? '') || acpCalls.unnamed
  if (command !== null) {
    const cwd = cwdOf(call, folder)
    const input = { ...withoutRedundant(jsonInput(call.rawInput), profile), command }
    return {
      tool,
      title: callTitles.run(command),
      input,
      action: cwd === null ? { other: tool } : { shell: command, cwd },
    }
  }
  const input = inputOf(call, kind)
  const action = actionOf({ ...call, kind }, tool, input, folder)
  const isChange = 'write' in action && !saysMore(title, tool, action.write)
  return { tool, title: isChange ? callTitles.change(action.write) : truncateTitle(title), input, action }
}

function withoutRedundant(input: JsonObject, { redundantInput = {} }: AcpProfile): JsonObject {
  const isRedundant = ([name, value]: readonly [string, unknown]) =>
    Object.hasOwn(redundantInput, name) && (redundantInput[name] === 'any' || redundantInput[name] === value)
  return Object.fromEntries(Object.entries(input).filter(entry => !isRedundant(entry)))
}

/** Fields that agents send in addition to those of the protocol. */
const Meta = z.object({
  toolName: z.string().optional(),
  goose: z.object({ toolCall: z.object({ toolName: z.string(), extensionName: z.string() }).optional() }).optional(),
})
/** The goose extension with goose's own tools. A tool of an MCP server can have the same name as one of them. */
const ownExtension = 'developer'

/** Returns the agent's own name of the tool, or the kind of the tool. */
function toolOf({ name, kind, _meta }: KnownCall): string {
  const { toolName, goose } = Meta.catch({}).parse(_meta ?? {})
  return (name || toolName || goose?.toolCall?.toolName || kind || 'other').slice(0, limits.nameMax).toWellFormed()
}

/** goose sends the kind "other" for all its tools. */
function kindOf({ kind, _meta }: KnownCall, { toolKinds }: AcpProfile, tool: string): ToolKind {
  if ((kind && kind !== 'other') || !toolKinds) return kind ?? 'other'
  const { goose } = Meta.catch({}).parse(_meta ?? {})
  const isOwn = goose?.toolCall?.extensionName === ownExtension && Object.hasOwn(toolKinds, tool)
  return (isOwn && toolKinds[tool]) || 'other'
}

/** Returns the shell command of a call that runs one, or null if the agent does not send it. */
function shellCommand(call: KnownCall, { shellCommandIn = 'input' }: AcpProfile): string | null {
  if (shellCommandIn === 'title') return call.title || null
  const { command } = jsonInput(call.rawInput)
  return typeof command === 'string' && command !== '' ? command : null
}

/** Gemini names the folder of a command only in the text below its title. */
const folderInText = /^\[(?:current working directory|in) (.+?)\](?: \(|$)/

/** Returns the folder in which a command runs, or null if that is unclear. */
function cwdOf({ content, rawInput }: KnownCall, folder: string): string | null {
  const { cwd, directory, dir_path, workdir } = jsonInput(rawInput)
  const named = [cwd, directory, dir_path, workdir].filter(value => value !== undefined && value !== null)
  if (named.some(value => typeof value !== 'string') || new Set(named).size > 1) return null
  const text =
    named[0] ??
    textsOf(content)
      .map(line => folderInText.exec(line)?.[1])
      .find(found => found !== undefined)
  if (typeof text !== 'string' || text === '') return folder
  return isAbsolute(text) ? text : join(folder, text)
}

/** Page and terminal show the change of one file side by side if the input has this shape. */
function inputOf({ rawInput, content, locations, title }: KnownCall, kind: ToolKind): JsonObject {
  const diffs = diffsIn(content)
  const [diff, second] = diffs
  if (diff && !second)
    return diff.oldText
      ? { file_path: diff.path, old_string: diff.oldText, new_string: diff.newText }
      : { file_path: diff.path, content: diff.newText }
  if (diffs.length > 1)
    return {
      changes: diffs.map(({ path, oldText, newText }) => ({ path, old_string: oldText ?? '', new_string: newText })),
    }
  const input = jsonInput(rawInput)
  if (Object.keys(input).length > 0) return (kind === 'edit' && changeIn(input)) || input
  const paths = (locations ?? []).map(({ path }) => path)
  const texts = textsOf(content)
  return {
    ...(paths.length > 0 ? { paths } : {}),
    ...(texts.length > 0 ? { text: texts.join('\n') } : {}),
    ...(paths.length === 0 && texts.length === 0 && title ? { title } : {}),
  }
}

/** The names that agents use for the texts of a change. */
const contentNames = ['content', 'file_text']
const replacedNames = [
  ['old_string', 'new_string'],
  ['old_str', 'new_str'],
  ['before', 'after'],
] as const

/** Returns the change of a file in the shape that page and terminal show, or null if the input has anything else. */
function changeIn(input: JsonObject): JsonObject | null {
  const [path, ...otherPaths] = new Set(pathsIn(input))
  const texts = Object.entries(input).filter(([name]) => !pathNames.includes(name))
  if (path === undefined || otherPaths.length > 0 || texts.some(([, text]) => typeof text !== 'string')) return null
  const named = Object.fromEntries(texts)
  const isOnly = (...names: readonly string[]) =>
    names.length === texts.length && names.every(name => Object.hasOwn(named, name))
  const content = contentNames.find(name => isOnly(name))
  if (content !== undefined) return { file_path: path, content: named[content] ?? '' }
  const [before, after] = replacedNames.find(names => isOnly(...names)) ?? []
  if (before === undefined || after === undefined) return null
  return { file_path: path, old_string: named[before] ?? '', new_string: named[after] ?? '' }
}

/** Returns whether a title has words in addition to the name of the tool and the paths. */
function saysMore(title: string, tool: string, paths: readonly string[]): boolean {
  const rest = [tool, ...paths].reduce((text, part) => text.replace(part, ''), title)
  return /\p{L}/u.test(rest)
}

function actionOf({ kind, content, locations }: KnownCall, tool: string, input: JsonObject, folder: string): Action {
  const named = [
    ...diffsIn(content).map(({ path }) => path),
    ...(locations ?? []).map(({ path }) => path),
    ...pathsIn(input),
  ]
  const paths = [...new Set(named.map(path => (isAbsolute(path) ? path : join(folder, path))))]
  const isKnown = paths.length > 0 && paths.length <= limits.actionPathsMax
  switch (kind) {
    case 'edit':
    case 'delete':
    case 'move':
      return isKnown ? { write: paths } : { other: tool }
    case 'read':
      return isKnown ? { read: paths } : { other: tool }
    case 'fetch': {
      const host = typeof input.url === 'string' ? hostOf(input.url) : ''
      return host === '' ? { other: tool } : { fetch: host }
    }
    default:
      return { other: tool }
  }
}

const pathNames: readonly string[] = ['path', 'file_path', 'filePath', 'fileName']
function pathsIn(input: JsonObject): readonly string[] {
  const paths = pathNames.map(name => input[name])
  return paths.filter((path): path is string => typeof path === 'string' && path !== '')
}
type DiffContent = Extract<ToolCallContent, { type: 'diff' }>
function diffsIn(content: KnownCall['content']): readonly DiffContent[] {
  return (content ?? []).filter((part): part is DiffContent => part.type === 'diff')
}
export function textsOf(content: KnownCall['content']): readonly string[] {
  return (content ?? []).flatMap(part =>
    part.type === 'content' && part.content.type === 'text' ? [part.content.text] : [],
  )
}
/** Returns what the agent says about a call. Leaves out the folder that Gemini writes before the description of a command, because the request shows it anyway. */
export function statementsOf(content: KnownCall['content']): readonly string[] {
  return textsOf(content).flatMap(text => {
    const [folder] = folderInText.exec(text) ?? []
    const said = folder === undefined ? text : text.slice(folder.length).replace(/\)$/, '')
    return said === '' ? [] : [said]
  })
}
/** An input arrives as JSON, so every object in it is a JSON object. */
function jsonInput(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}
function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

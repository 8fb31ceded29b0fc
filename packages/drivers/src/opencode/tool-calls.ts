/** Describes a tool call of opencode: its title, its input, and the action that rules and risk use. */
import { isAbsolute, join } from 'node:path'
import { type Action, type ApprovalAsk, callTitles, hostOf, type JsonObject, limits } from '@holdpoint/protocol'
import { opencodeCalls } from './messages.ts'
import { mcpPrefix } from './permission-settings.ts'
import { changesIn } from './unified-diff.ts'
import type { PermissionRequest } from './wire.ts'

export interface OpencodeCall {
  readonly tool: string
  readonly title: string
  readonly input: JsonObject
  readonly action: Action
  readonly cwd: string
}
/** The folder and the MCP servers of the session in which a call runs. */
export interface OpencodeContext {
  readonly folder: string
  /** The names of the MCP servers. */
  readonly servers: readonly string[]
}
type Fields = Readonly<Record<string, unknown>>

/** `input` must be a value that was parsed from JSON. */
export function describeToolCall(tool: string, input: Fields, place: OpencodeContext): OpencodeCall {
  const { folder } = place
  const call = { tool: tool.slice(0, limits.nameMax).toWellFormed(), input: input as JsonObject, cwd: folder } // JSON has only JSON values
  const path = textIn(input, 'filePath')
  const file = path === '' ? '' : absolute(path, folder)
  if (tool === 'bash' && textIn(input, 'command') !== '') {
    const command = textIn(input, 'command')
    const cwd = absolute(textIn(input, 'workdir') || folder, folder)
    return { ...call, cwd, title: callTitles.run(command), action: { shell: command, cwd } }
  }
  if (tool === 'write' && file !== '') {
    const changed = { file_path: file, content: textIn(input, 'content') }
    return { ...call, title: callTitles.change([file]), input: changed, action: { write: [file] } }
  }
  if (tool === 'edit' && file !== '') {
    const { filePath: _, oldString = '', newString = '', ...rest } = call.input
    const changed = { ...rest, file_path: file, old_string: oldString, new_string: newString }
    return { ...call, title: callTitles.change([file]), input: changed, action: { write: [file] } }
  }
  if (tool === 'webfetch' && hostOf(textIn(input, 'url')) !== '') {
    const url = textIn(input, 'url')
    return { ...call, title: callTitles.fetch(url), action: { fetch: hostOf(url) } }
  }
  const read = tool === 'read' ? file : readFolder(tool, input, folder)
  const title = callTitles.use(tool)
  if (read !== '') return { ...call, title, action: { read: [read] } }
  return { ...call, title, action: mcpAction(tool, place.servers) ?? { other: call.tool } }
}

/** Returns the ask for a permission. `call` is the tool call that needs the permission, or null if opencode does not name it. */
export function opencodeApproval(
  { permission, patterns, metadata }: PermissionRequest,
  call: { readonly tool: string; readonly input: Fields } | null,
  place: OpencodeContext,
): ApprovalAsk {
  const described = describeToolCall(call?.tool ?? permission, call?.input ?? metadata, place)
  const { tool, title, input, action, cwd } =
    permission === 'edit' ? withDiff(described, metadata, place.folder) : described
  const description = descriptionFor(permission, patterns)
  return {
    ...{ kind: 'approval', tool, title, input, action, cwd, editable: false },
    ...(description === null ? {} : { description: description.slice(0, limits.reasonMax).toWellFormed() }),
  }
}

function descriptionFor(permission: string, patterns: readonly string[]): string | null {
  if (permission === 'external_directory') return opencodeCalls.outside(patterns)
  return permission === 'doom_loop' ? opencodeCalls.repeated : null
}

/** opencode computes the exact change of a file. Page and terminal show it side by side if the input has this shape. */
function withDiff(call: OpencodeCall, metadata: Fields, folder: string): OpencodeCall {
  const { diff, filepath, files } = metadata
  if (Array.isArray(files)) return withFiles(call, files as readonly Fields[], folder) // the tool `apply_patch` changes several files
  if (typeof filepath !== 'string' || typeof diff !== 'string') return call
  const path = absolute(filepath, folder)
  const changes = changesIn(diff)
  const [change, second] = changes ?? []
  const isNew = change?.old_string === '' && !second
  const input: JsonObject =
    !changes || !change
      ? { file_path: path, diff }
      : isNew
        ? { file_path: path, content: change.new_string }
        : second
          ? { file_path: path, edits: changes.map(edit => ({ ...edit })) }
          : { file_path: path, ...change }
  return { ...call, title: callTitles.change([path]), input, action: { write: [path] } }
}

function withFiles(call: OpencodeCall, files: readonly Fields[], folder: string): OpencodeCall {
  const named = files.flatMap(file => [file.filePath, file.movePath]).filter(path => typeof path === 'string')
  const paths = [...new Set(named.map(path => absolute(path, folder)))]
  const isKnown = paths.length > 0 && paths.length <= limits.actionPathsMax
  const changes = files.map(file => fileChange(file, folder))
  return {
    ...call,
    ...(changes.every(change => change !== null) && { input: { changes } }),
    title: callTitles.change(paths),
    action: isKnown ? { write: paths } : { other: call.tool },
  }
}

/** Returns the change of one file in the shape that page and terminal show, or null if opencode's description has anything else. */
function fileChange(file: Fields, folder: string): JsonObject | null {
  const { filePath, movePath, type, patch } = file
  if (typeof filePath !== 'string' || typeof patch !== 'string') return null
  const path = absolute(filePath, folder)
  const parts = changesIn(patch)
  const [part, ...others] = parts ?? []
  if (type === 'update' || type === 'move') {
    const moved: JsonObject = typeof movePath === 'string' ? { move_path: absolute(movePath, folder) } : {}
    return { path, kind: 'update', ...moved, diff: parts ? patch.slice(`\n${patch}`.indexOf('\n@@ ')) : patch }
  }
  if (!part || others.length > 0) return null
  if (type === 'add' && part.old_string === '') return { path, ...part }
  return type === 'delete' && part.new_string === '' ? { path, kind: 'delete', diff: part.old_string } : null
}

function readFolder(tool: string, input: Fields, folder: string): string {
  return ['glob', 'grep', 'list'].includes(tool) ? absolute(textIn(input, 'path') || folder, folder) : ''
}
function mcpAction(tool: string, servers: readonly string[]): Action | null {
  const server = servers.find(name => tool.startsWith(mcpPrefix(name)))
  const name = server === undefined ? '' : tool.slice(mcpPrefix(server).length)
  return server === undefined || name === '' ? null : { mcp: server, tool: name }
}
function absolute(path: string, folder: string): string {
  return isAbsolute(path) ? path : join(folder, path)
}
function textIn(input: Fields, name: string): string {
  const value = input[name]
  return typeof value === 'string' ? value : ''
}

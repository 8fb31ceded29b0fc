/** Derives the action of a tool call of Claude Code: what the call does, in Holdpoint's words. */
import { posix } from 'node:path'
import { type Action, hostOf, type JsonObject } from '@holdpoint/protocol'
import { globFolders } from './glob-folders.ts'

/** Tools that read or write files, with the field that names the file or folder. `optional` fields default to the working folder. */
const fileTools: Readonly<
  Record<string, { readonly access: 'read' | 'write'; readonly field: string; readonly optional?: true }>
> = {
  Read: { access: 'read', field: 'file_path' },
  NotebookRead: { access: 'read', field: 'notebook_path' },
  Grep: { access: 'read', field: 'path', optional: true },
  LS: { access: 'read', field: 'path', optional: true },
  Write: { access: 'write', field: 'file_path' },
  Edit: { access: 'write', field: 'file_path' },
  MultiEdit: { access: 'write', field: 'file_path' },
  NotebookEdit: { access: 'write', field: 'notebook_path' },
}

export function actionFor(tool: string, input: JsonObject, cwd: string): Action {
  if (tool === 'Bash' && typeof input.command === 'string') return { shell: input.command, cwd }
  if (tool === 'Glob' && typeof input.pattern === 'string')
    return { read: globFolders(input.pattern, typeof input.path === 'string' ? posix.resolve(cwd, input.path) : cwd) }
  const files = Object.hasOwn(fileTools, tool) ? fileTools[tool] : undefined
  if (files) {
    const path = input[files.field] ?? (files.optional ? cwd : undefined)
    if (typeof path === 'string' && path !== '') return files.access === 'write' ? { write: [path] } : { read: [path] }
  }
  if (tool === 'WebFetch' && typeof input.url === 'string' && hostOf(input.url) !== '')
    return { fetch: hostOf(input.url) }
  return mcpAction(tool) ?? { other: tool }
}

/** Claude Code names the tools of MCP servers mcp__SERVER__TOOL. A server's name may contain underscores, but not two in a row. */
function mcpAction(tool: string): Action | null {
  const [prefix, server, ...rest] = tool.split('__')
  const name = rest.join('__')
  return prefix === 'mcp' && server && name ? { mcp: server, tool: name } : null
}

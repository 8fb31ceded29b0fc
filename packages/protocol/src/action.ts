/** Actions describe what a request does, in Holdpoint's words. Agents name their tools differently, so rules, risk and cards use the action and not the name of the tool. */
import { z } from 'zod'
import { limits } from './limits.ts'

const path = z.string().min(1).max(limits.pathMax)
const paths = z.array(path).min(1).max(limits.actionPathsMax)
const name = z.string().min(1).max(limits.nameMax)

export const Action = z
  .union([
    z.strictObject({
      shell: z.string().max(limits.textMax).describe('The shell command, without the shell that the agent adds.'),
      cwd: z.string().max(limits.pathMax).describe('The folder in which the command runs.'),
    }),
    z.strictObject({ write: paths.describe('The files that are created, changed or deleted.') }),
    z.strictObject({ read: paths.describe('The files or folders that are read.') }),
    z.strictObject({ fetch: name.describe('The host from which something is fetched.') }),
    z.strictObject({
      mcp: name.describe('The name of the MCP server.'),
      tool: name.describe('The name of the tool on that server.'),
    }),
    z.strictObject({ other: name.describe('The agent’s own name of the tool.') }),
  ])
  .describe(
    'What a request does: run a shell command, write or read files, fetch from a host, use an MCP tool, or other.',
  )
export type Action = z.infer<typeof Action>

export const ActionKind = z.enum(['shell', 'write', 'read', 'fetch', 'mcp', 'other']).describe('The kind of an action.')
export type ActionKind = z.infer<typeof ActionKind>

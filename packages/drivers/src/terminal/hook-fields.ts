/** The fields that the hooks of Claude Code and of Codex have in common. */
import { JsonObject, limits } from '@holdpoint/protocol'
import { z } from 'zod'

export const commonFields = {
  session_id: z.string().min(1).max(200),
  cwd: z.string(),
  permission_mode: z.string().optional(),
  /** Present if a subagent makes the call. */
  agent_id: z.string().nullish(),
  agent_type: z.string().nullish(),
}
export const callFields = { ...commonFields, tool_name: z.string().min(1), tool_input: JsonObject }
export const callFieldsWithId = { ...callFields, tool_use_id: z.string().min(1) }

interface Subagent {
  readonly agent_id?: string | null | undefined
  readonly agent_type?: string | null | undefined
}

/** Returns the path of the subagent that makes a call. A hook names only this subagent, not those above it. */
export function subagentPath({ agent_id: id, agent_type: type }: Subagent): readonly string[] {
  return id ? [(type ?? id).slice(0, limits.nameMax).toWellFormed()] : []
}

/** The ask and the reply of a tool that Claude Code calls for permissions (`--permission-prompt-tool`). */

import { type HandedAnswer, jsonCopy } from '@holdpoint/client'
import type { Ask, JsonObject } from '@holdpoint/protocol'
import { replyFor } from './permission.ts'
import { shownAsk } from './shown-action.ts'

/** A call for which Claude Code, or another program, asks for a permission. */
export interface PromptedCall {
  readonly tool: string
  readonly input: JsonObject
  readonly cwd: string
  /** Why the agent wants to make the call, in its own words. */
  readonly reason?: string | undefined
}

/** Returns the ask for the call. A call of AskUserQuestion becomes questions. */
export function promptToolAsk({ tool, input, cwd, reason }: PromptedCall): Ask {
  return shownAsk({ tool, input, cwd, description: reason })
}

/** Returns the reply in the form that Claude Code reads: `{"behavior":"allow","updatedInput":…}` or `{"behavior":"deny","message":…}`. */
export function promptToolReply(handed: HandedAnswer, key: string, { tool, input }: PromptedCall): JsonObject {
  const answer = { ...handed, ask: handed.request.ask, key }
  const { result } = replyFor(answer, { tool, input, updates: [], mayBypass: false })
  return jsonCopy(result, 'The decision') as JsonObject // the result is an object
}

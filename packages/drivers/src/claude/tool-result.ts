/** Reads the result of a tool call from a hook of Claude Code, for watchers. */

import type { FinishedCall } from '@holdpoint/client'
import { limits } from '@holdpoint/protocol'
import { isRecord } from './cli/content-blocks.ts'

export type HookResult = FinishedCall['result']

/** Claude Code reports only that a command succeeded, which means the exit code 0. The exit code is unknown if the command was interrupted or continues in the background, or if it is a command such as `grep` that may succeed with a code other than 0. A command that was interrupted or continues in the background has not succeeded yet. */
export function okResult(tool: string, response: unknown): HookResult {
  const fields = isRecord(response) ? response : {}
  const isFinished = !fields.backgroundTaskId && !fields.interrupted
  const hasCode = tool === 'Bash' && typeof fields.stdout === 'string' && isFinished && !fields.returnCodeInterpretation
  return { ok: isFinished, ...(hasCode ? { exitCode: 0 } : {}), text: beginning(outputText(response)) }
}

export function failedResult(error: unknown): HookResult {
  const text = outputText(error)
  return { ok: false, ...exitCodeIn(text), text: beginning(text) }
}

/** Claude Code writes the exit code before the output of a command that failed. */
const exitCodeLine = /^(?:Error: )?Exit code (\d{1,3})(?:\n|$)/

export function exitCodeIn(text: string): { readonly exitCode?: number } {
  const code = exitCodeLine.exec(text)?.[1]
  return code === undefined ? {} : { exitCode: Number(code) }
}

/** Returns the output of a tool as text. The result of a shell command is what it printed. */
export function outputText(output: unknown): string {
  if (typeof output === 'string') return output
  const { stdout, stderr } = isRecord(output) ? output : {}
  if (typeof stdout === 'string' && typeof stderr === 'string')
    return [stdout, stderr].filter(text => text !== '').join('\n')
  return JSON.stringify(output) ?? ''
}

function beginning(text: string): string {
  return text.slice(0, limits.resultTextMax).toWellFormed()
}

/** Approvals of commands: commands that Codex asks about, input for running commands, and connections that commands make. */
import {
  type ApprovalAsk,
  callTitles,
  type JsonObject,
  limits,
  type Suggestion,
  truncateTitle,
} from '@holdpoint/protocol'
import type { z } from 'zod'
import type { Decision } from '../session/decisions.ts'
import { joinWords } from '../shell-quote.ts'
import { codexCalls, codexSuggestions } from './messages.ts'
import type { NativeCall } from './native-call.ts'
import { unwrapShell } from './shell-words.ts'
import type { CommandApproval } from './wire.ts'

/** A suggestion, with the decision to send to Codex if a person accepts it. */
export interface CodexSuggestion extends z.infer<typeof Suggestion> {
  readonly reply: unknown
}

/** The scope of suggestions that Codex writes to its own settings. */
export const ownSettings = 'userSettings'

export function commandCall(params: CommandApproval, folder: string): NativeCall {
  const { threadId, turnId, itemId } = params
  const suggestions = suggestionsFor(params)
  const ask: ApprovalAsk = {
    kind: 'approval',
    ...describe(params, params.cwd ?? folder),
    cwd: params.cwd ?? folder,
    ...(params.reason ? { description: params.reason.slice(0, limits.reasonMax).toWellFormed() } : {}),
    editable: false,
    suggestions: suggestions.map(({ reply: _, ...suggestion }) => suggestion),
  }
  return { threadId, turnId, itemId, ask, reply: decision => ({ decision: replyTo(decision, suggestions) }) }
}

/** Returns the native decision for an approval of a command or a file. */
export function replyTo(decision: Decision, suggestions: readonly CodexSuggestion[]): unknown {
  const { answer, stopsTurn } = decision
  if (answer?.kind !== 'allow') return stopsTurn ? 'cancel' : 'decline'
  return suggestions.find(({ id }) => id === answer.suggestion)?.reply ?? 'accept'
}

/** The input contains the command exactly as Codex sent it. Rules match the command without the shell around it. */
function describe(params: CommandApproval, cwd: string): Pick<ApprovalAsk, 'tool' | 'input' | 'action' | 'title'> {
  const { networkApprovalContext: network, additionalPermissions, kind } = params
  const command = params.command ?? ''
  const input: JsonObject = {
    command,
    ...(additionalPermissions ? { additionalPermissions } : {}),
    ...(network ? { host: network.host, protocol: network.protocol } : {}),
  }
  if (network)
    return {
      tool: 'network',
      input,
      action: { fetch: network.host },
      title: truncateTitle(codexCalls.connect(network.host)),
    }
  if (kind !== 'command')
    return { tool: 'write_stdin', input, action: { other: 'write_stdin' }, title: codexCalls.typeInto }
  const script = unwrapShell(command)
  return {
    tool: 'exec_command',
    input,
    action: { shell: script, cwd },
    title: callTitles.run(script),
  }
}

function suggestionsFor(params: CommandApproval): readonly CodexSuggestion[] {
  const { proposedExecpolicyAmendment: prefix, proposedNetworkPolicyAmendments: hosts, kind } = params
  if (kind !== 'command') return []
  const network = (hosts ?? []).flatMap((amendment, index): CodexSuggestion[] =>
    amendment.action === 'allow'
      ? [
          {
            id: `host:${index}`,
            label: codexSuggestions.host(amendment.host),
            scope: ownSettings,
            reply: { applyNetworkPolicyAmendment: { network_policy_amendment: amendment } },
          },
        ]
      : [],
  )
  const all: readonly CodexSuggestion[] = [
    { id: 'session', label: codexSuggestions.command, scope: 'session', reply: 'acceptForSession' },
    ...(prefix && prefix.length > 0
      ? [
          {
            id: 'prefix',
            label: codexSuggestions.prefix(joinWords(prefix)),
            scope: ownSettings,
            reply: { acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } },
          },
        ]
      : []),
    ...network,
  ]
  // A shortened label would hide part of what the suggestion allows.
  return all.filter(({ label }) => label.length <= limits.labelMax).slice(0, limits.suggestionsMax)
}

/**
 * Answers the hooks of an agent that a person runs in their own terminal. Each hook is a process of its own, so what one hook must
 * know about an earlier one is in `TerminalCalls`.
 */
import { randomUUID } from 'node:crypto'
import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import { type AgentSession, expectRequest, jsonCopy } from '@holdpoint/client'
import { type AgentEvent, canonicalJson, Fault, type JsonObject } from '@holdpoint/protocol'
import { type PermissionReply, replyFor } from '../claude/approvals/permission.ts'
import { toAgent } from '../claude/messages.ts'
import { decidedBy } from '../session/verdicts.ts'
import { terminalTexts } from './messages.ts'
import type { CallEvent, TerminalAgent, TerminalEvent, TerminalEventOf, TerminalReply } from './terminal-agent.ts'
import {
  type CallOptions,
  callInput,
  finishCall,
  isSameCall,
  limitText,
  pathOf,
  settleAll,
  type TerminalCall,
} from './terminal-calls.ts'
import { reportPrompt, reportStop } from './terminal-moments.ts'

export interface HookOptions extends CallOptions {
  /** Called when the gateway has the request of this hook. From then on, the hook waits for a person. */
  readonly onAccepted: () => void
  /** Receives the reply of the hook for the case that the gateway does not accept the request in time. */
  readonly onFallback: (reply: TerminalReply) => void
  /** Aborts when the agent ends the hook, because the person has answered in the terminal. */
  readonly answeredInTerminal: AbortSignal
}

/** Returns null if the text is not the input of a hook that Holdpoint knows. */
export function parseHook(agent: TerminalAgent, text: string): TerminalEvent | null {
  try {
    return agent.parse(text)
  } catch {
    return null
  }
}

/** Returns the agent's name of the event in an input that `parseHook` does not understand; empty if there is none. */
export function hookNameOf(text: string): string {
  try {
    const { hook_event_name: name } = Object(JSON.parse(text)) as { readonly hook_event_name?: unknown } // checked below
    return typeof name === 'string' ? name : ''
  } catch {
    return ''
  }
}

/** Reports the event of the hook to the gateway, and returns the reply for the agent, or null if the agent continues as usual. */
export async function answerHook(event: TerminalEvent, options: HookOptions): Promise<TerminalReply | null> {
  const { session, agent } = options
  switch (event.kind) {
    case 'prompt':
      await settleAll(options, 'none')
      return submitPrompt(event, session)
    case 'before':
      return checkCall(event, options)
    case 'permission':
      return askPermission(event, options)
    case 'asking':
      await session.say(messageOf(terminalTexts.asking(agent.title, event.message)))
      return null
    case 'after':
      return finishCall(event, options)
    case 'stop': {
      await settleAll(options, 'main')
      const text = event.text.trim()
      const sentBack = await reportStop(session)
      // An agent that is sent back to work continues its turn.
      const finished: readonly AgentEvent[] = sentBack === null ? [{ type: 'turn.finished', ending: 'done' }] : []
      await session.say(...(text === '' ? [] : [messageOf(text)]), ...finished)
      return sentBack === null ? null : { kind: 'block', reason: sentBack }
    }
    case 'failed': {
      if (event.agentPath.length > 0) return null
      await settleAll(options, 'main')
      const { code, message } = event
      await session.say({ type: 'error.raised', code, message }, { type: 'turn.finished', ending: 'failed' })
      return null
    }
    case 'interrupt':
      await settleAll(options, 'all')
      await session.say({ type: 'turn.finished', ending: 'interrupted' })
      return null
    case 'end':
      await session.end({ reason: 'done' })
      return null
  }
}

function messageOf(text: string): AgentEvent {
  return { type: 'message.added', block: randomUUID(), text: limitText(text) }
}

/** Shows the message of the person, unless a watcher refuses it. */
async function submitPrompt(event: TerminalEventOf<'prompt'>, session: AgentSession): Promise<TerminalReply | null> {
  const { refusal, texts } = await reportPrompt(event.text, session)
  const typed = messageOf(terminalTexts.typed(event.text))
  const changed = { type: 'session.changed', conversationId: event.conversation, ...modeOf(event) } as const
  if (refusal !== null) {
    const refused = { type: 'error.raised', code: 'refused', message: refusal } as const
    await session.say(changed, typed, refused, { type: 'turn.finished', ending: 'cancelled' })
    return { kind: 'block', reason: refusal }
  }
  await session.say({ ...changed, state: 'working' }, typed)
  return texts.length === 0 ? null : { kind: 'context', event: event.name, text: texts.join('\n\n') }
}

/** Applies the rules and the watchers to a call that the agent may run without asking. */
async function checkCall(event: TerminalEventOf<'before'>, options: HookOptions): Promise<TerminalReply | null> {
  const { agent, session, calls } = options
  const { tool, agentPath } = event
  const id = event.id ?? randomUUID()
  const input = callInput(event)
  const known: TerminalCall = { id, isOwnId: event.id === null, tool, input, isMain: agentPath.length === 0 }
  calls.put(known)
  // Ignore an error, because the log matters less than the rules, and the check of the rules reports the same error.
  const started = session.say({ type: 'tool.started', block: id, tool, input, ...pathOf(event) }).catch(() => {})
  try {
    const checked = session.check({ key: id, ...agent.describe({ tool, input, cwd: event.cwd }), agentPath })
    const [verdict] = await Promise.all([checked, started])
    const { say = [] } = verdict
    const decided = decidedBy(verdict)
    if (decided === 'deny') {
      calls.remove(id)
      return { kind: 'deny', reason: [toAgent.verdict(verdict), ...say].join('\n\n') }
    }
    // Not every agent can take texts from this hook, so the agent reads the texts with the result of the call.
    const told = say.length > 0 ? { ...known, texts: say } : known
    calls.put(told)
    if (decided === null) return null
    const why = toAgent.verdict(verdict)
    // Let the agent ask: the hook for its question then opens the request.
    if (agent.canMakeAsk && agent.canAnswer) return { kind: 'ask', reason: why }
    return await askBefore({ ...event, input }, told, options)
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'session_ended' || error.code === 'not_found') throw error
    return failedReply(agent, error.message)
  }
}

/** Returns the reply of the hook before a call if the hook could not check the rules. */
export function failedReply(agent: TerminalAgent, why: string): TerminalReply {
  return undecided(agent, terminalTexts.rulesFailed(why))
}

/** Returns the reply if the gateway cannot check a call or ask about it, for example because its input is too large: the agent asks in its terminal or, if a hook cannot make it ask, does not run the call. */
function undecided({ canMakeAsk }: TerminalAgent, reason: string): TerminalReply {
  return { kind: canMakeAsk ? 'ask' : 'deny', reason }
}

/** Asks a person before a call, because a rule says so and the agent would not ask. */
async function askBefore(event: CallEvent, known: TerminalCall, options: HookOptions): Promise<TerminalReply | null> {
  const { agent, calls, onFallback } = options
  onFallback(undecided(agent, terminalTexts.cannotAsk))
  const { reply, call } = await ask(event, known, options)
  const deny = (reason: string) => {
    calls.put({ ...call, isDenied: true })
    return { kind: 'deny', reason } as const
  }
  // Without a reply, the agent would run the call.
  if (!reply) return deny(terminalTexts.notAllowed)
  const { result } = reply
  if (result.behavior === 'deny') return deny(result.message)
  const allowed = jsonCopy(result.updatedInput ?? known.input, `the input of ${event.tool}`) as JsonObject // tool inputs are objects
  // The input that people see can differ from the agent's input, for example for a patch of Codex.
  const asked = agent.askFor(event)
  if (asked.kind !== 'approval') throw new Error(`${agent.title} asks people about a call only with an approval`)
  if (canonicalJson(allowed) === canonicalJson(asked.input)) return null
  if (!asked.editable) return deny(terminalTexts.notAllowed)
  calls.put({ ...call, input: allowed })
  return { kind: 'edit', input: allowed }
}

async function askPermission(
  event: TerminalEventOf<'permission'>,
  options: HookOptions,
): Promise<TerminalReply | null> {
  const { tool, agentPath } = event
  const input = callInput(event)
  const call = options.calls.list().find(known => isSameCall(known, tool, input) && !known.request)
  const unknown = { id: randomUUID(), isOwnId: true, tool, input, isMain: agentPath.length === 0 }
  const { reply } = await ask({ ...event, input }, call ?? unknown, options)
  return reply && { kind: 'permission', result: reply.result }
}

/** The answer to a call, and what the hooks remember about the call. The reply is null if the agent's side ended the request first, for example because the person answered in the terminal. */
interface AnsweredCall {
  readonly reply: PermissionReply | null
  readonly call: TerminalCall
}

/** Opens a request, and waits for the answer of a person or a rule. */
async function ask(
  event: CallEvent & Partial<TerminalEventOf<'permission'>>,
  known: TerminalCall,
  { agent, session, calls, onAccepted, answeredInTerminal }: HookOptions,
): Promise<AnsweredCall> {
  const { tool, input, agentPath, suggestions = [] } = event
  const { id: key } = known
  const updates = suggestions as PermissionUpdate[] // only Claude Code has suggestions, and documents this type
  const nativeAsk = agent.askFor(event)
  const call: TerminalCall = { ...known, request: expectRequest(session.info.id, key, nativeAsk).id }
  calls.put(call)
  const [opened] = await session.open([{ ask: nativeAsk, key, agentPath }])
  if (!opened) throw new Error('one ask opens one request')
  calls.put({ ...call, isWaiting: true })
  onAccepted()
  const withdraw = () => void opened.withdraw().catch(() => {}) // an error means that the gateway is away; the session ends with the terminal anyway
  if (answeredInTerminal.aborted) withdraw()
  answeredInTerminal.addEventListener('abort', withdraw, { once: true })
  await opened.resolved()
  const handed = await opened.hand()
  if (handed.kind === 'agent') return { reply: null, call }
  const reply = replyFor({ ...handed, ask: opened.request.ask, key }, { tool, input, updates, mayBypass: false })
  const answered = reply.note === undefined ? call : { ...call, note: reply.note }
  calls.put(answered)
  return { reply, call: answered }
}

function modeOf({ mode }: TerminalEvent): { readonly mode?: string } {
  return mode === undefined ? {} : { mode }
}

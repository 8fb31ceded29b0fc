/**
 * Answers the hooks of an agent that a person runs in their own terminal. Each hook is a process of its own, so what one hook must
 * know about an earlier one is in `TerminalCalls`.
 */
import { randomUUID } from 'node:crypto'
import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import {
  type AgentEvent,
  type Call,
  canonicalJson,
  Fault,
  type JsonObject,
  limits,
  type Request,
  type RequestId,
} from '@holdpoint/protocol'
import { type PermissionReply, replyFor } from '../claude/approvals/permission.ts'
import { toAgent } from '../claude/messages.ts'
import { failedResult, okResult, outputText } from '../claude/tool-result.ts'
import type { AgentSession } from '../session/agent-session.ts'
import { expectRequest } from '../session/expected-request.ts'
import { jsonCopy } from '../session/json-copy.ts'
import { decidedBy } from '../session/verdicts.ts'
import { terminalTexts } from './messages.ts'
import type { CallEvent, TerminalAgent, TerminalEvent, TerminalEventOf, TerminalReply } from './terminal-agent.ts'
import { reportPrompt, reportStop } from './terminal-moments.ts'

/** What the hooks of a terminal remember about one tool call. */
export interface TerminalCall {
  /** The agent's id of the call, or our own if it has none. A permission request does not have it, but the hook before the call does. */
  readonly id: string
  readonly tool: string
  readonly input: JsonObject
  /** The request for this call, if there is one. */
  readonly request?: RequestId
  /** Whether a hook waits for the answer. Without it, the gateway did not accept the request in time. */
  readonly isWaiting?: boolean
  /** What the person who allowed the call wants the agent to read. */
  readonly note?: string
  /** Texts of watchers that the agent reads with the result. */
  readonly texts?: readonly string[]
}
export interface TerminalCalls {
  /** All calls that have not finished, the newest first. */
  list(): readonly TerminalCall[]
  put(call: TerminalCall): void
  remove(id: string): void
  /** Whether the process that put this call still runs. Agents kill a waiting hook if the person interrupts them. */
  hasHook(id: string): boolean
}

export interface HookOptions {
  readonly agent: TerminalAgent
  readonly call: Call
  readonly session: AgentSession
  readonly calls: TerminalCalls
  /** Called when the gateway has the request of this hook. From then on, the hook waits for a person. */
  readonly onAccepted: () => void
  /** Receives what the hook says if the gateway does not accept the request in time. */
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

/** Reports what the hook says to the gateway, and returns the reply for the agent, or null if the agent goes on as usual. */
export async function answerHook(event: TerminalEvent, options: HookOptions): Promise<TerminalReply | null> {
  const { session, agent } = options
  switch (event.kind) {
    case 'prompt':
      await settleAll(options)
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
      await settleAll(options)
      const text = event.text.trim()
      const sentBack = await reportStop(session)
      // An agent that is sent back to work continues its turn.
      const finished: readonly AgentEvent[] = sentBack === null ? [{ type: 'turn.finished', ending: 'done' }] : []
      await session.say(...(text === '' ? [] : [messageOf(text)]), ...finished)
      return sentBack === null ? null : { kind: 'block', reason: sentBack }
    }
    case 'interrupt':
      await settleAll(options, true)
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
  const input = inputOf(event)
  calls.put({ id, tool, input })
  // Ignore an error, because the transcript matters less than the rules, whose check reports the same error.
  const started = session.say({ type: 'tool.started', block: id, tool, input, ...pathOf(event) }).catch(() => {})
  try {
    const checked = session.check({ key: id, ...agent.describe({ tool, input, cwd: event.cwd }), agentPath })
    const [verdict] = await Promise.all([checked, started])
    const { say = [] } = verdict
    const decided = decidedBy(verdict)
    if (decided === 'deny') return { kind: 'deny', reason: [toAgent.verdict(verdict), ...say].join('\n\n') }
    // Not every agent can be given a text here, so it reads the text with the result.
    if (say.length > 0) calls.put({ id, tool, input, texts: say })
    if (decided === null) return null
    const why = toAgent.verdict(verdict)
    // The agent asks, and the hook of that question opens a request.
    if (agent.canMakeAsk && agent.canAnswer) return { kind: 'ask', reason: why }
    return await askBefore({ ...event, id, input }, options)
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'session_ended' || error.code === 'not_found') throw error
    return failedReply(agent, error.message)
  }
}

/** Returns the reply of a hook before a call that could not check the rules. */
export function failedReply(agent: TerminalAgent, why: string): TerminalReply {
  return undecided(agent, terminalTexts.rulesFailed(why))
}

/** Returns the reply if the gateway cannot check a call or ask about it, for example because its input is too large: the agent asks in its terminal or, if it cannot, does not run the call. */
function undecided({ canMakeAsk }: TerminalAgent, reason: string): TerminalReply {
  return { kind: canMakeAsk ? 'ask' : 'deny', reason }
}

/** Asks a person before a call, because a rule says so and the agent would not ask. */
async function askBefore(
  event: CallEvent & { readonly id: string },
  options: HookOptions,
): Promise<TerminalReply | null> {
  const { agent, calls, onFallback } = options
  const { id, tool, input } = event
  onFallback(undecided(agent, terminalTexts.cannotAsk))
  const reply = await ask(event, id, options)
  // Without a reply, the agent would run the call.
  if (!reply) return { kind: 'deny', reason: terminalTexts.notAllowed }
  const { result } = reply
  if (result.behavior === 'deny') return { kind: 'deny', reason: result.message }
  const allowed = jsonCopy(result.updatedInput ?? input, `the input of ${tool}`) as JsonObject // tool inputs are objects
  if (canonicalJson(allowed) === canonicalJson(input)) return null
  const known = calls.list().find(call => call.id === id)
  if (known) calls.put({ ...known, input: allowed })
  return { kind: 'edit', input: allowed }
}

async function askPermission(
  event: TerminalEventOf<'permission'>,
  options: HookOptions,
): Promise<TerminalReply | null> {
  const input = inputOf(event)
  const call = options.calls.list().find(known => isSameCall(known, event.tool, input) && !known.request)
  const reply = await ask({ ...event, input }, call?.id ?? randomUUID(), options)
  return reply && { kind: 'permission', result: reply.result }
}

/** Opens a request, and waits for the answer of a person or a rule. Returns null if the agent's side ended the request first, for example because the person answered in the terminal. */
async function ask(
  event: CallEvent & Partial<TerminalEventOf<'permission'>>,
  key: string,
  { agent, session, calls, onAccepted, answeredInTerminal }: HookOptions,
): Promise<PermissionReply | null> {
  const { tool, input, agentPath, suggestions = [] } = event
  const updates = suggestions as PermissionUpdate[] // only Claude Code has suggestions, and documents this type
  const nativeAsk = agent.askFor(event)
  const { texts } = calls.list().find(({ id }) => id === key) ?? {}
  const asked: TerminalCall = {
    ...{ id: key, tool, input, request: expectRequest(session.info.id, key, nativeAsk).id },
    ...(texts === undefined ? {} : { texts }),
  }
  calls.put(asked)
  const [opened] = await session.open([{ ask: nativeAsk, key, agentPath }])
  if (!opened) throw new Error('one ask opens one request')
  calls.put({ ...asked, isWaiting: true })
  onAccepted()
  const withdraw = () => void opened.withdraw().catch(() => {}) // the gateway is away, and the session ends with the terminal
  if (answeredInTerminal.aborted) withdraw()
  answeredInTerminal.addEventListener('abort', withdraw, { once: true })
  await opened.resolved()
  const handed = await opened.hand()
  if (handed.kind === 'agent') return null
  const reply = replyFor({ ...handed, ask: opened.request.ask, key }, { tool, input, updates, mayBypass: false })
  if (reply.note !== undefined) calls.put({ ...asked, note: reply.note })
  return reply
}

/** Reports the result of a call. If a request for the call is still pending, the person has allowed the call in the terminal. */
async function finishCall(event: TerminalEventOf<'after'>, options: HookOptions): Promise<TerminalReply | null> {
  const { agent, session, calls } = options
  const known = calls.list()
  // Without an id, the oldest call with the same input is the one that has finished.
  const call = known.findLast(({ id, tool, input }) =>
    event.id === null ? isSameCall({ tool, input }, event.tool, inputOf(event)) : id === event.id,
  )
  const id = call?.id ?? event.id ?? randomUUID()
  calls.remove(id)
  const { tool, cwd, output, agentPath } = event
  const result = event.ok ? okResult(tool, output) : failedResult(output)
  const { ok, text: _, ...exitCode } = result
  const described = agent.describe({ tool, input: inputOf(event), cwd })
  const said = await session.reportResult({ key: id, ...described, agentPath, result })
  await session.say({
    ...{ type: 'tool.finished', block: id, ok, output: limitText(outputText(output)), ...exitCode },
    ...pathOf(event),
  })
  if (call) await settle(call, options, true)
  const texts = [...(call?.note === undefined ? [] : [call.note]), ...(call?.texts ?? []), ...said]
  return texts.length === 0 ? null : { kind: 'context', event: event.name, text: texts.join('\n\n') }
}

/** Reports that the agent has got the answer to a call. Withdraws a request that nobody has answered, if the call is over or no hook waits for it. */
async function settle(
  { id: key, request: id, isWaiting = false }: TerminalCall,
  { call, calls }: Pick<HookOptions, 'call' | 'calls'>,
  isOver: boolean,
): Promise<void> {
  if (id === undefined) return
  const request = await findRequest(call, id)
  if (request?.status === 'pending') {
    if (isWaiting && calls.hasHook(key) && !isOver) return
    await call('withdrawRequest', { id })
  } else if (request?.delivery.state === 'handed') await call('reportDelivery', { id, state: 'taken' })
  calls.remove(key)
}

/** Withdraws the pending requests whose hook has been killed, so that nobody answers in vain. */
export async function withdrawAbandoned({ call, calls }: Pick<HookOptions, 'call' | 'calls'>): Promise<void> {
  for (const { id: key, request: id } of calls.list()) {
    if (id === undefined || calls.hasHook(key)) continue
    if ((await findRequest(call, id))?.status !== 'pending') continue
    await call('withdrawRequest', { id })
    calls.remove(key)
  }
}

/** Returns null for a request that never reached the gateway. */
async function findRequest(call: Call, id: RequestId): Promise<Request | null> {
  try {
    return await call('getRequest', { id })
  } catch (error) {
    if (error instanceof Fault && error.code === 'not_found') return null
    throw error
  }
}

/** A call that was denied has no hook after it, but the next prompt or the end of the turn shows that the agent has got the answer. */
async function settleAll(options: HookOptions, areOver = false): Promise<void> {
  for (const call of options.calls.list()) await settle(call, options, areOver)
}

function isSameCall(known: Pick<TerminalCall, 'tool' | 'input'>, tool: string, input: JsonObject): boolean {
  return known.tool === tool && canonicalJson(known.input) === canonicalJson(input)
}

function inputOf({ tool, input }: CallEvent): JsonObject {
  return jsonCopy(input, `the input of ${tool}`) as JsonObject // tool inputs are objects
}

function limitText(text: string): string {
  return text.slice(0, textMax).toWellFormed()
}
/** A character has at most three bytes in UTF-8 for each unit of its length. */
const textMax = Math.floor(limits.blockMaxBytes / 3)

function modeOf({ mode }: TerminalEvent): { readonly mode?: string } {
  return mode === undefined ? {} : { mode }
}

function pathOf({ agentPath }: TerminalEvent): { readonly agentPath?: string[] } {
  return agentPath.length === 0 ? {} : { agentPath: [...agentPath] }
}

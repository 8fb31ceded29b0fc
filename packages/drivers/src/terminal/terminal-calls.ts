/** What the hooks of a terminal remember about the calls of tools, and what becomes of the request of a call when the call is over. */
import { randomUUID } from 'node:crypto'
import { type AgentSession, jsonCopy } from '@holdpoint/client'
import {
  type Call,
  canonicalJson,
  Fault,
  type Json,
  type JsonObject,
  limits,
  type Request,
  type RequestId,
} from '@holdpoint/protocol'
import { failedResult, type HookResult, okResult, outputText } from '../claude/tool-result.ts'
import { nameOfAsk } from '../session/ask-titles.ts'
import { terminalTexts } from './messages.ts'
import type { CallEvent, TerminalAgent, TerminalEvent, TerminalEventOf, TerminalReply } from './terminal-agent.ts'

/** What the hooks of a terminal remember about one tool call. */
export interface TerminalCall {
  /** The agent's id of the call, or our own. A permission request does not have it, but the hook before the call does. */
  readonly id: string
  /** Whether the id is our own, because the agent gives its calls none, or because no hook ran before the call. */
  readonly isOwnId?: boolean
  /** Whether the main agent makes the call, and not a subagent. */
  readonly isMain: boolean
  readonly tool: string
  readonly input: JsonObject
  /** The request for this call, if there is one. */
  readonly request?: RequestId
  /** Whether a hook waits for the answer. Without it, the gateway did not accept the request in time. */
  readonly isWaiting?: boolean
  /** Whether the hook before the call has denied it. The record stays until the agent has got the answer. */
  readonly isDenied?: boolean
  /** Whether the call has finished. The record stays until its request is settled, which the gateway does later if it does not reply to the hook after the call. */
  readonly isFinished?: boolean
  /** What the person who allowed the call wants the agent to read. */
  readonly note?: string
  /** Texts of watchers that the agent reads with the result. */
  readonly texts?: readonly string[]
}
export interface TerminalCalls {
  /** All calls that have not finished or whose request is not settled, the newest first. */
  list(): readonly TerminalCall[]
  put(call: TerminalCall): void
  remove(id: string): void
  /** Whether the process that put this call still runs. Agents kill a waiting hook if the person interrupts them. */
  hasHook(id: string): boolean
}
export interface CallOptions {
  readonly agent: TerminalAgent
  readonly call: Call
  readonly session: AgentSession
  readonly calls: TerminalCalls
}

/** Reports the result of a call. If a request for the call is still pending, the person has allowed the call in the terminal. */
export async function finishCall(event: TerminalEventOf<'after'>, options: CallOptions): Promise<TerminalReply | null> {
  const { agent, session, calls } = options
  const input = callInput(event)
  const found = findCalls(event, input, calls.list())
  for (const call of found) {
    if (call.request === undefined) calls.remove(call.id)
    else calls.put({ ...call, isFinished: true })
  }
  const id = found[0]?.id ?? event.id ?? randomUUID()
  const { tool, cwd, output, agentPath } = event
  const result = resultOf(event)
  const { exitCode } = result
  const said = await session.reportResult({ key: id, ...agent.describe({ tool, input, cwd }), agentPath, result })
  await session.say({
    // The transcript shows a call as failed only if the agent says so, and not if it continues in the background.
    ...{ type: 'tool.finished', block: id, ok: event.ok ?? true, output: limitText(outputText(output)) },
    ...(exitCode === undefined ? {} : { exitCode }),
    ...pathOf(event),
  })
  for (const call of found) await settle(call, options, { ran: input })
  const notes = found.flatMap(({ note, texts = [] }) => (note === undefined ? texts : [note, ...texts]))
  const texts = [...notes, ...said]
  return texts.length === 0 ? null : { kind: 'context', event: event.name, text: texts.join('\n\n') }
}

function resultOf({ ok, tool, output }: TerminalEventOf<'after'>): HookResult {
  if (ok === null) return { text: outputText(output).slice(0, limits.resultTextMax).toWellFormed() }
  return ok ? okResult(tool, output) : failedResult(output)
}

/** Returns what is known about a call that has finished: the record with its id, and the oldest one without the agent's id that has the same input. */
function findCalls(
  { id, tool }: TerminalEventOf<'after'>,
  input: JsonObject,
  known: readonly TerminalCall[],
): readonly TerminalCall[] {
  const running = known.filter(call => !call.isFinished)
  const same = running.filter(call => call.isOwnId && !call.isDenied && isSameCall(call, tool, input))
  // An agent without ids runs a call only after its hook has replied. Other agents ask in their terminal meanwhile.
  const own = same.findLast(({ isWaiting }) => id !== null || !isWaiting)
  const exact = running.find(call => call.id === id)
  // A permission request has no id. It has a record of its own if no hook has reported the same call before.
  const found = exact?.request === undefined ? [exact, own] : [exact]
  return found.filter(call => call !== undefined)
}

/** What is known about a call: whether it may still run, and the input with which it has run. */
type Course = 'open' | 'over' | { readonly ran: JsonObject }

/** A call that was denied has no hook after it, but the next prompt or the end of the turn shows that the agent has got the answer. `over` says which calls can no longer run. */
export async function settleAll(options: CallOptions, over: 'none' | 'main' | 'all'): Promise<void> {
  for (const call of options.calls.list()) {
    const isOver = over === 'all' || (over === 'main' && call.isMain)
    await settle(call, options, isOver ? 'over' : 'open')
  }
}

/** Reports that the agent has got the answer to a call. Withdraws a request that nobody has answered, if the call is over or no hook waits for it. */
async function settle(known: TerminalCall, options: CallOptions, course: Course): Promise<void> {
  const { call, calls } = options
  const { id: key, request: id, isWaiting = false } = known
  if (id === undefined) {
    if (course !== 'open') calls.remove(key)
    return
  }
  let request = await findRequest(call, id)
  if (request?.status === 'pending') {
    if (isWaiting && calls.hasHook(key) && course === 'open') return
    request = await call('withdrawRequest', { id })
  }
  if (request) await settleAnswer(request, options, course)
  calls.remove(key)
}

/** Reports what became of an answer. In a terminal that asks at the same time, a call can have run before the answer. */
async function settleAnswer(request: Request, { call, session }: CallOptions, course: Course): Promise<void> {
  const { id, resolution, delivery } = request
  if (!resolution || resolution.by === 'agent') return
  const problem = typeof course === 'object' ? conflictWith(request, course.ran) : null
  if (delivery.state === 'handed' && problem === null) await call('reportDelivery', { id, state: 'taken' })
  else if (delivery.state === 'handed' || (delivery.state === 'waiting' && typeof course === 'object'))
    await call('reportDelivery', { id, state: 'undeliverable', reason: terminalTexts.answeredFirst })
  if (problem === null) return
  const message = terminalTexts[problem](nameOfAsk(request.ask))
  await session.say({ type: 'error.raised', code: 'answered_elsewhere', message: limitText(message) })
}

/** Returns how a call that has run differs from the answer to its request, or null if it does not. */
function conflictWith({ ask, resolution }: Request, ran: JsonObject): 'deniedButRan' | 'editedButRan' | null {
  const effective = resolution?.effective
  if (!effective) return 'deniedButRan'
  const permitted = effective.input
  if (ask.kind !== 'approval' || !permitted) return null
  const isSame = (a: JsonObject, b: JsonObject, name: string) => textOf(a[name]) === textOf(b[name])
  // Agents may add to the input that they report, so only the fields that the person changed are compared.
  const names = [...new Set([...Object.keys(ask.input), ...Object.keys(permitted)])]
  const changed = names.filter(name => !isSame(ask.input, permitted, name))
  return changed.some(name => isSame(ask.input, ran, name)) ? 'editedButRan' : null
}
const textOf = (value: Json | undefined): string => (value === undefined ? '' : canonicalJson(value))

/** Withdraws the pending requests whose hook has been killed, so that nobody answers in vain. */
export async function withdrawAbandoned({ call, calls }: Pick<CallOptions, 'call' | 'calls'>): Promise<void> {
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

export function isSameCall(known: Pick<TerminalCall, 'tool' | 'input'>, tool: string, input: JsonObject): boolean {
  return known.tool === tool && canonicalJson(known.input) === canonicalJson(input)
}

export function callInput({ tool, input }: CallEvent): JsonObject {
  return jsonCopy(input, `the input of ${tool}`) as JsonObject // tool inputs are objects
}

export function limitText(text: string): string {
  return text.slice(0, textMax).toWellFormed()
}
/** A character has at most three bytes in UTF-8 for each unit of its length. */
const textMax = Math.floor(limits.blockMaxBytes / 3)

export function pathOf({ agentPath }: TerminalEvent): { readonly agentPath?: string[] } {
  return agentPath.length === 0 ? {} : { agentPath: [...agentPath] }
}

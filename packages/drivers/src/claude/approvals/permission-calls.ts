/** The calls for which the CLI has asked for permission: reports each call to the session loop, and gives the CLI its reply when the loop has the answer. */
import type { CanUseTool, PermissionResult, PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import { jsonCopy } from '@holdpoint/client'
import { type Ask, canonicalJson, Fault, type JsonObject } from '@holdpoint/protocol'
import type { AnswerEffects, CallAnswer, ConnectionOptions } from '../../session/agent-connection.ts'
import { callKey } from '../../session/carried-requests.ts'
import { denied, toAgent } from '../messages.ts'
import type { ParkingProbe } from '../parking/parking-method.ts'
import type { TranscriptStore } from '../transcript/transcript-store.ts'
import { actionFor } from './action.ts'
import { askFor, type Permission, planTool, replyFor } from './permission.ts'

export interface PermissionCallsOptions extends Pick<ConnectionOptions, 'emit' | 'check'> {
  /** The folder of the session. */
  readonly cwd: string
  readonly transcript: TranscriptStore
  /** The keys of requests that an earlier process left open. A call may repeat one of them. */
  readonly carriedKeys: ReadonlySet<string>
  readonly parkingProbe: ParkingProbe
  /** Returns whether the driver may ask for a call of this tool in the PreToolUse hook, where the call can be deferred. */
  readonly mayDefer: (tool: string) => boolean
  readonly agentPathOf: (agentId: string | undefined) => readonly string[]
  /** Returns whether the driver is ending the process. */
  readonly isClosing: () => boolean
  /** Resolves to whether the process has exited or is about to exit. */
  readonly isExiting: () => Promise<boolean>
  /** Whether the process runs with an extra ask rule (ask-rule.ts), so that the CLI asks more often than its settings require. */
  readonly hasAskRule: boolean
  readonly mayBypass: boolean
  readonly reportProblem: (message: string) => void
}

interface PermissionCall {
  readonly permission: Permission
  readonly reply: Promise<PermissionResult>
  readonly give: (result: PermissionResult) => void
  readonly fail: (error: unknown) => void
  isAnswered: boolean
  isAborted: boolean
  /** Ends the wait in the PreToolUse hook, where the call can be deferred; null if the call does not wait there. */
  endHold: ((isDeferred: boolean) => void) | null
}

const withdrawnReply: PermissionResult = { behavior: 'deny', message: toAgent.withdrawn }

export class PermissionCalls {
  readonly #options: PermissionCallsOptions
  readonly #calls = new Map<string, PermissionCall>()
  readonly #notes = new Map<string, string>()
  /** The folders in which calls run, until the CLI asks for the call or the call finishes. */
  readonly #folders = new Map<string, string>()
  /** Calls that a person has allowed permanently since this process started. */
  readonly #alwaysAllowed = new Set<string>()

  constructor(options: PermissionCallsOptions) {
    this.#options = options
  }

  /** Called by the PreToolUse hook. A call can run outside the folder of the session, because the shell of the CLI stays in the folder to which an earlier command has changed. */
  addFolder(id: string, cwd: string): void {
    this.#folders.set(id, cwd)
  }

  canUseTool: CanUseTool = (tool, input, context) => {
    const { toolUseID: id } = context
    // The CLI may ask twice for one call, and it asks again for a call that waited in the hook. Such a call keeps its request and its reply.
    const known = this.#calls.get(id)
    if (known) return this.#awaitReply(known, context.signal)
    const cwd = this.#folders.get(id) ?? this.#options.cwd
    this.#folders.delete(id)
    const call = newCall({ tool, input: (input ?? {}) as JsonObject, context, cwd }) // `#open` checks that the input is JSON
    this.#calls.set(id, call)
    this.#open(call).catch(error => this.#refuse(call, error))
    return this.#awaitReply(call, context.signal)
  }

  async #open(call: PermissionCall): Promise<void> {
    const { hasAskRule, agentPathOf, mayBypass, emit } = this.#options
    const { permission } = call
    const { tool, context, cwd } = permission
    const { toolUseID: id, agentID, suggestions = [] } = context
    const input = jsonCopy(permission.input, `the input of ${tool}`) as JsonObject // tool inputs are objects
    const agentPath = agentPathOf(agentID)
    if (hasAskRule && (await this.#isAlwaysAllowed({ ...permission, input }, agentPath))) {
      this.#calls.delete(id)
      return call.give({ behavior: 'allow', updatedInput: { ...input } })
    }
    if (call.isAborted) return
    const ask = askFor({ tool, input, context, cwd }, mayBypass)
    this.#storeSuggestions(id, suggestions)
    const origin = agentID === undefined ? 'main' : 'background'
    await emit({
      type: 'callOpened',
      call: { id, ask, agentPath, origin, repeats: earlier => isSameCall(earlier, ask) },
    })
  }

  /** Refuses a call for which nobody can be asked, and tells the agent and the person why. */
  #refuse({ permission, fail, give }: PermissionCall, error: unknown): void {
    // A process that is about to end gets no reply, so that the next process can ask for the call again.
    if (this.#options.isClosing()) return
    if (!(error instanceof Fault)) {
      fail(error)
      return
    }
    const { tool, context } = permission
    this.#calls.delete(context.toolUseID)
    this.#options.reportProblem(denied.cannotAsk(tool, error.message))
    give({ behavior: 'deny', message: toAgent.cannotAsk(error.message) })
  }

  /** Returns whether a person has already allowed an equal call permanently in this process and no rule or watcher of Holdpoint applies to the call. The CLI then asks only because of the extra ask rule. */
  async #isAlwaysAllowed({ tool, input, cwd, context }: Permission, agentPath: readonly string[]): Promise<boolean> {
    if (!this.#alwaysAllowed.has(canonicalJson({ tool, input }))) return false
    const call = { key: context.toolUseID, tool, input, cwd, action: actionFor(tool, input, cwd), agentPath }
    const { rule, watcher } = await this.#options.check(call)
    return rule === undefined && watcher === undefined
  }

  /** Stores the CLI's suggestions for a waiting call, and removes those of finished calls. */
  #storeSuggestions(id: string, updates: readonly PermissionUpdate[]): void {
    const { transcript, carriedKeys } = this.#options
    const stored = transcript.meta.suggestions ?? {}
    if (updates.length === 0 || stored[id]) return
    const open = Object.entries(stored).filter(([key]) => this.#calls.has(key) || carriedKeys.has(key))
    transcript.updateMeta({ suggestions: Object.fromEntries([...open, [id, [...updates]]]) })
  }

  #awaitReply(call: PermissionCall, signal: AbortSignal): Promise<PermissionResult> {
    const abort = () => void this.#abort(call)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    return call.reply.finally(() => signal.removeEventListener('abort', abort))
  }

  /** Called when the CLI no longer waits for a call. If its process is about to exit, the call stays open, so that the next process can ask for it again. */
  async #abort(call: PermissionCall): Promise<void> {
    if (call.isAnswered || call.isAborted) return
    call.isAborted = true
    const { toolUseID: id } = call.permission.context
    void this.#options.emit({ type: 'callAborted', id })
    if (!(await this.#options.isExiting())) this.#withdraw(id)
  }
  #withdraw(id: string): void {
    this.#calls.get(id)?.give(withdrawnReply)
    this.#calls.delete(id)
  }

  /** Gives the CLI the answer to a call. Returns null if no such call waits. */
  answer(id: string, answer: CallAnswer): AnswerEffects | null {
    const call = this.#calls.get(id)
    if (!call || call.isAborted) return null
    const { transcript, mayBypass } = this.#options
    const { tool, context, input } = call.permission
    const updates = transcript.meta.suggestions?.[answer.key] ?? context.suggestions ?? []
    const { result, note, turnEnding, problem, alwaysAllow } = replyFor(answer, { tool, input, updates, mayBypass })
    if (alwaysAllow) this.#alwaysAllowed.add(canonicalJson({ tool, input }))
    if (note) this.#notes.set(id, note)
    call.isAnswered = true
    call.give(result)
    const tellAgent = stopMessageOf(answer)
    return {
      ...(turnEnding ? { turnEnding } : {}),
      ...(tellAgent === null ? {} : { tellAgent }),
      ...(problem ? { problem } : {}),
    }
  }

  /** Called by the PreToolUse hook. Opens the call and waits inside the hook, so that the CLI can defer the call if the process is stopped during the wait. Resolves to true if the CLI should defer the call. */
  async deferWhileWaiting(id: string, tool: string, input: object, signal: AbortSignal): Promise<boolean> {
    const { parkingProbe, mayDefer } = this.#options
    if (parkingProbe.method === 'markerRow' || parkingProbe.method === 'none' || !mayDefer(tool)) return false
    const controller = new AbortController()
    const abort = () => controller.abort()
    signal.addEventListener('abort', abort, { once: true })
    const context = { signal: controller.signal, toolUseID: id, requestId: id, displayName: tool }
    const answered = this.canUseTool(tool, { ...input }, context).then(() => false)
    const call = this.#calls.get(id)
    if (!call) return answered
    const held = new Promise<boolean>(resolve => {
      call.endHold = resolve
    })
    // If the self-test finds that marker rows work, the call does not need to wait in the hook, because it can be resumed without being deferred.
    void parkingProbe.findMethod().then(method => method === 'markerRow' && call.endHold?.(false))
    try {
      return await Promise.race([answered, held])
    } finally {
      call.endHold = null
      signal.removeEventListener('abort', abort)
    }
  }
  /** Returns whether the call runs in a folder other than that of the session. */
  isElsewhere(id: string): boolean {
    const { cwd } = this.#options
    return (this.#calls.get(id)?.permission.cwd ?? cwd) !== cwd
  }
  /** Returns whether the call waits in the PreToolUse hook, where it can be deferred. */
  isHeld(id: string): boolean {
    return Boolean(this.#calls.get(id)?.endHold)
  }
  /** Lets the CLI defer the call. Returns false if the call does not wait in the hook. */
  defer(id: string): boolean {
    const isHeld = this.isHeld(id)
    this.#calls.get(id)?.endHold?.(true)
    return isHeld
  }

  /** Call this when the result of a call appears. Returns whether the result shows that the CLI has received an answer. */
  markFinished(id: string): boolean {
    this.#folders.delete(id)
    return this.#calls.get(id)?.isAnswered === true && this.#calls.delete(id)
  }
  /** Call this when a turn is over. While background tasks run, calls of subagents may belong to those tasks. */
  onTurnEnd(hasBackgroundTasks: boolean): void {
    for (const [id, { isAnswered, permission }] of this.#calls) {
      if (hasBackgroundTasks && permission.context.agentID !== undefined) continue
      if (isAnswered) this.#calls.delete(id)
      else this.#withdraw(id)
    }
  }

  /** Returns and removes the person's note on an allowed call. */
  takeNote(id: string): string | undefined {
    const note = this.#notes.get(id)
    this.#notes.delete(id)
    return note
  }
}

function newCall(permission: Permission): PermissionCall {
  let give: PermissionCall['give'] = () => {}
  let fail: PermissionCall['fail'] = () => {}
  const reply = new Promise<PermissionResult>((resolve, reject) => {
    give = resolve
    fail = reject
  })
  return { permission, reply, give, fail, isAnswered: false, isAborted: false, endHold: null }
}

/** Returns a sentence for the agent with the reason of an answer that denies or declines and ends the turn; otherwise null. The CLI drops the reason, so the loop passes this sentence to the agent later. */
function stopMessageOf(given: CallAnswer): string | null {
  const answer = given.kind === 'answer' ? given.answer : null
  if (answer?.kind !== 'deny' && answer?.kind !== 'decline') return null
  return answer.interrupt && answer.reason ? toAgent.stopReason(answer.reason) : null
}

/** Returns whether a call asks for the same as the request of an earlier process, so that the digest need not change. */
function isSameCall(earlier: Ask, ask: Ask): boolean {
  if (earlier.kind === 'questions') return true
  if (earlier.kind !== 'approval' || ask.kind !== 'approval' || earlier.tool !== ask.tool) return false
  // Do not compare the input of ExitPlanMode, because the path of the plan file may differ although the plan is the same.
  return ask.tool === planTool || callKey(earlier) === callKey(ask)
}

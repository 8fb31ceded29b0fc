/** Tracks the tool calls and elicitations of one process that wait for an answer. Opens one request for each, hands an answer only while the process can receive it, and reports the answer as taken when the CLI's messages show that the answer was received. */
import type { CanUseTool, PermissionResult, PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import { type Ask, canonicalJson, Fault, type JsonObject } from '@holdpoint/protocol'
import type { AgentSession } from '../../session/agent-session.ts'
import type { CarriedRequests } from '../../session/carried-requests.ts'
import { jsonCopy } from '../../session/json-copy.ts'
import type { HandedAnswer, OpenRequest } from '../../session/open-request.ts'
import { denied, notParkable, toAgent } from '../messages.ts'
import type { ParkingProbe } from '../parking/parking-method.ts'
import type { TranscriptStore } from '../transcript/transcript-store.ts'
import { actionFor } from './action.ts'
import { askFor, type Permission, planTool, replyFor } from './permission.ts'

export interface PendingCallsOptions {
  readonly session: AgentSession
  readonly transcript: TranscriptStore
  /** Requests of an earlier process that a call of this process may repeat. */
  readonly carried: CarriedRequests
  readonly parkingProbe: ParkingProbe
  /** Whether the driver may ask for a call of this tool in the PreToolUse hook, where the call can be deferred. */
  readonly mayDefer: (tool: string) => boolean
  readonly agentPathOf: (agentId: string | undefined) => readonly string[]
  /** Resolves to true when the process exits, or to false if it is still running after a short wait. */
  readonly processExited: () => Promise<boolean>
  /** Called when a call starts to wait, before its request is opened. */
  readonly onCallStart: () => void
  /** Called when the request of a call is opened, when its answer is handed, and when the call is abandoned or removed. */
  readonly onChange: () => void
  /** Whether the process runs with an extra ask rule (ask-rule.ts), so that the CLI asks more often than its settings require. */
  readonly hasAskRule: boolean
  readonly mayBypass: boolean
  readonly reportProblem: (message: string) => void
}

/** Who asked: the main agent, a subagent, or an MCP server. Only a call of the main agent can be resumed under its own id. */
type CallOrigin = 'main' | 'subagent' | 'elicitation'

interface PendingCall {
  readonly id: string
  readonly origin: CallOrigin
  readonly reply: Promise<PermissionResult>
  /** The key of the call's request, which differs from the call's id if the call repeats a carried request. */
  key?: string
  request?: OpenRequest
  handedAnswer?: HandedAnswer
  isHanding: boolean
  /** Whether the call waits in the PreToolUse hook, where it can be deferred. */
  isHeld: boolean
  /** Set when the CLI has aborted the call. Resolves to true if the process is stopping or has exited, so that the request must stay open. */
  aborted?: Promise<boolean>
  /** Whether the call no longer waits, because the CLI aborted it, its turn ended, or a person interrupted the turn. An answer can then no longer be delivered. */
  isAbandoned: boolean
}

/** The reply to a call that the CLI makes after a person's interrupt, because the CLI has not processed the interrupt yet. */
const interruptedReply: PermissionResult = { behavior: 'deny', message: toAgent.interrupted, interrupt: true }

/** A promise that never resolves. A process that is about to end gets it in place of a reply, and in `Promise.race` it never wins. */
const never = new Promise<never>(() => {})

export class PendingCalls {
  readonly #options: PendingCallsOptions
  readonly #calls = new Map<string, PendingCall>()
  readonly #notes = new Map<string, string>()
  /** Calls that a person has allowed permanently since this process started, as canonical JSON of tool and input. */
  readonly #alwaysAllowed = new Set<string>()
  #isStopping = false
  #resolveStopping = () => {}
  readonly #stopping = new Promise<void>(resolve => {
    this.#resolveStopping = resolve
  })
  #isInterrupted = false
  /** How a person's answer ended the turn, or null if no answer ended it. */
  turnEnding: 'cancelled' | 'interrupted' | null = null
  /** A sentence for the agent with the reason that the person gave for ending the turn, or null if the person gave none. */
  stopMessage: string | null = null

  constructor(options: PendingCallsOptions) {
    this.#options = options
  }

  /** The ids of the calls that are not abandoned and whose answer is neither handed nor being handed. */
  get pendingKeys(): readonly string[] {
    return this.#activeCalls().flatMap(call => (call.isHanding ? [] : call.id))
  }
  /** Whether any call is waiting, or is answered but not yet taken. */
  get hasOpenCalls(): boolean {
    return this.#activeCalls().length > 0
  }
  #activeCalls(): readonly PendingCall[] {
    return [...this.#calls.values()].filter(call => !call.isAbandoned)
  }
  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Whether a call waits in the PreToolUse hook, so that the CLI will record it as deferred when the process is stopped. */
  get hasHeldCall(): boolean {
    return [...this.#calls.values()].some(call => call.isHeld && !call.isHanding)
  }

  /** Returns the waiting call if it is the only one and belongs to the main agent; otherwise returns the reason why parking is impossible. */
  soleCall(): { readonly id: string; readonly isHeld: boolean } | { readonly reason: string } {
    const [call, second] = this.#activeCalls()
    if (!call) return { reason: notParkable.nothingPending }
    if (second) return { reason: notParkable.several }
    if (call.isHanding) return { reason: notParkable.answerOnItsWay }
    if (call.origin !== 'main') return { reason: notParkable.notMainAgent }
    return { id: call.id, isHeld: call.isHeld }
  }

  /** Stops handing answers, because the process is about to end. Pending requests stay open at the gateway. */
  stopHanding(): void {
    this.#isStopping = true
    this.#resolveStopping()
  }

  canUseTool: CanUseTool = (tool, input, context) => {
    const { toolUseID: id } = context
    // The CLI may ask twice for one call, and it asks again for a call that waited in the hook. Such a call keeps its request and its reply.
    const known = this.#calls.get(id)
    if (known) return this.#awaitReply(known, context.signal)
    if (this.#isInterrupted) return Promise.resolve(interruptedReply)
    const { cwd } = this.#options.session.info
    const permission = { tool, input: (input ?? {}) as JsonObject, context, cwd } // `#requestPermission` checks that the input is JSON
    return this.#register(id, context.agentID ? 'subagent' : 'main', context.signal, call =>
      this.#requestPermission(call, permission),
    )
  }

  /** Called by the PreToolUse hook. Opens the request and waits inside the hook, so that the CLI can defer the call if the process is stopped during the wait. Resolves to true if the CLI should defer the call. */
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
    call.isHeld = true
    // If the self-test finds that marker rows work, the call does not need to wait in the hook, because it can be resumed without being deferred.
    const notNeeded = parkingProbe.findMethod().then(method => (method === 'markerRow' ? false : never))
    try {
      return await Promise.race([answered, notNeeded, this.#stopping.then(() => !call.isHanding)])
    } finally {
      call.isHeld = false
      signal.removeEventListener('abort', abort)
    }
  }

  /** Opens a request for an MCP server's elicitation and returns the answer. An elicitation cannot be resumed in another process. */
  async askElicitation(key: string, ask: Ask, signal: AbortSignal): Promise<HandedAnswer> {
    let handed: HandedAnswer | undefined
    try {
      await this.#register(key, 'elicitation', signal, async call => {
        handed = await this.#askAndHand(call, key, ask, [])
        return { behavior: 'allow' }
      })
    } catch (error) {
      this.#remove(key)
      throw error
    }
    if (!handed) throw new Error(`Elicitation ${key} ended without an answer`)
    return handed
  }

  /** Call this when the result of a call appears. The result shows that the agent has received the answer. */
  async markTaken(id: string): Promise<void> {
    const call = this.#calls.get(id)
    if (!call?.handedAnswer) return
    this.#calls.delete(id)
    await call.handedAnswer.taken()
    this.#options.onChange()
  }

  /** Call this at every assistant or user message. An elicitation has no result of its own, so the next message shows that its answer was received. */
  async markElicitationsTaken(): Promise<void> {
    for (const [key, call] of this.#calls) if (call.origin === 'elicitation') await this.markTaken(key)
  }

  /** Reports handed answers as taken and abandons all other calls. While background tasks run, this applies only to calls of the main agent, because the other calls may belong to those tasks. */
  async onTurnEnd(hasBackgroundTasks: boolean): Promise<void> {
    for (const call of [...this.#calls.values()]) {
      if (hasBackgroundTasks && call.origin !== 'main') continue
      if (call.handedAnswer) await this.markTaken(call.id)
      else await this.#abandon(call)
    }
  }

  /** Call this when a person interrupts the turn. Abandons all calls whose answer has not been handed, and denies new calls until `clearInterrupt`. */
  async interrupt(): Promise<void> {
    this.#isInterrupted = true
    await Promise.all([...this.#calls.values()].map(call => this.#abandon(call)))
  }
  /** Whether a person has interrupted the turn, so that no call may start. */
  get isInterrupted(): boolean {
    return this.#isInterrupted
  }
  clearInterrupt(): void {
    this.#isInterrupted = false
  }

  /** Returns and removes the person's note on an allowed call. */
  takeNote(id: string): string | undefined {
    const note = this.#notes.get(id)
    this.#notes.delete(id)
    return note
  }

  #register(
    id: string,
    origin: CallOrigin,
    signal: AbortSignal,
    run: (call: PendingCall) => Promise<PermissionResult>,
  ): Promise<PermissionResult> {
    let start = (_: PendingCall) => {}
    const started = new Promise<PendingCall>(resolve => {
      start = resolve
    })
    const call: PendingCall = {
      ...{ id, origin, reply: started.then(run) },
      ...{ isHanding: false, isHeld: false, isAbandoned: false },
    }
    this.#calls.set(id, call)
    this.#options.onCallStart()
    start(call)
    return this.#awaitReply(call, signal)
  }

  #awaitReply(call: PendingCall, signal: AbortSignal): Promise<PermissionResult> {
    const abort = () => {
      call.aborted ??= this.#onAbort(call).catch(() => false)
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    return call.reply.finally(() => signal.removeEventListener('abort', abort))
  }

  async #requestPermission(call: PendingCall, permission: Permission): Promise<PermissionResult> {
    const { tool, context } = permission
    const { toolUseID: id, agentID, suggestions } = context
    const { carried, transcript, agentPathOf, mayBypass, reportProblem } = this.#options
    try {
      const input = jsonCopy(permission.input, `the input of ${tool}`) as JsonObject // tool inputs are objects
      const callJson = canonicalJson({ tool, input })
      if (await this.#isAlwaysAllowed(callJson, { ...permission, input })) return this.#allowAgain(id, input)
      const newAsk = askFor({ ...permission, input }, mayBypass)
      const earlier = carried.take(id, newAsk)
      const key = earlier?.key ?? id
      const updates = transcript.meta.suggestions?.[key] ?? suggestions ?? []
      call.key = key
      if (updates.length > 0 && !earlier) this.#storeSuggestions(key, updates)
      const ask = earlierAskOrNew(earlier?.ask, newAsk)
      const handed = await this.#askAndHand(call, key, ask, agentPathOf(agentID))
      const { result, note, turnEnding, problem, alwaysAllow } = replyFor(handed, { tool, input, updates, mayBypass })
      if (alwaysAllow) this.#alwaysAllowed.add(callJson)
      if (note) this.#notes.set(id, note)
      if (problem) reportProblem(problem)
      if (turnEnding) this.turnEnding ??= turnEnding
      this.stopMessage ??= stopMessageOf(handed)
      return result
    } catch (error) {
      if (this.#isStopping || this.#options.session.signal.aborted) return never
      if (!(error instanceof Fault)) throw error
      // If nobody can be asked, the call must not run. Tell both the agent and the person why.
      this.#remove(id)
      reportProblem(denied.cannotAsk(tool, error.message))
      return { behavior: 'deny', message: toAgent.cannotAsk(error.message) }
    }
  }

  /** Stores the CLI's suggestions for a pending call, and removes those of finished calls. */
  #storeSuggestions(key: string, updates: readonly PermissionUpdate[]): void {
    const { carried, transcript } = this.#options
    const openKeys = new Set([...[...this.#calls.values()].map(call => call.key), ...carried.remaining.keys()])
    const open = Object.entries(transcript.meta.suggestions ?? {}).filter(([stored]) => openKeys.has(stored))
    transcript.updateMeta({ suggestions: Object.fromEntries([...open, [key, [...updates]]]) })
  }

  /** Returns whether a person has already allowed an equal call permanently in this process and no Holdpoint rule applies to the call. The CLI then asks only because of the extra ask rule. */
  async #isAlwaysAllowed(callJson: string, { tool, input, cwd, context }: Permission): Promise<boolean> {
    const { hasAskRule, session, agentPathOf } = this.#options
    if (!hasAskRule || !this.#alwaysAllowed.has(callJson)) return false
    const call = { tool, input, cwd, action: actionFor(tool, input, cwd), agentPath: agentPathOf(context.agentID) }
    return (await session.check(call)).rule === undefined
  }
  #allowAgain(id: string, input: JsonObject): PermissionResult {
    this.#remove(id)
    return { behavior: 'allow', updatedInput: { ...input } }
  }

  async #askAndHand(call: PendingCall, key: string, ask: Ask, agentPath: readonly string[]): Promise<HandedAnswer> {
    const [request] = await this.#options.session.open([{ ask, key, agentPath }])
    if (!request) throw new Error('open() returned no request for one ask')
    call.request = request
    if (call.isAbandoned) await request.withdraw()
    this.#options.onChange()
    await Promise.race([request.resolved(), this.#stopping])
    // Do not hand the answer if the process is stopping or has exited. Waiting for `call.aborted` takes time, so check `#isStopping` again afterwards.
    if (this.#isStopping || (await call.aborted) || this.#isStopping) return never
    call.isHanding = true
    const handed = await request.hand()
    if (call.isAbandoned) return this.#dropAnswer(call, handed)
    call.handedAnswer = handed
    this.#options.onChange()
    return handed
  }

  #remove(id: string): void {
    this.#calls.delete(id)
    this.#options.onChange()
  }

  /** Reports the answer as undeliverable, because the call was abandoned while its answer was being handed. Returns an interruption in its place. */
  async #dropAnswer({ id }: PendingCall, handed: HandedAnswer): Promise<HandedAnswer> {
    await handed.dropped()
    this.#remove(id)
    const { request, replayed, taken, dropped } = handed
    return { kind: 'agent', reason: 'interrupted', request, replayed, taken, dropped }
  }

  /** Called when the CLI aborts a call. If the process is stopping or has exited, returns true and leaves the request open; otherwise abandons the call and returns false. */
  async #onAbort(call: PendingCall): Promise<boolean> {
    if (this.#isStopping || (await this.#options.processExited())) return true
    await this.#abandon(call)
    return false
  }

  async #abandon(call: PendingCall): Promise<void> {
    if (this.#isStopping || call.handedAnswer || call.isAbandoned) return
    call.isAbandoned = true
    this.#options.onChange()
    if (!call.isHanding) await call.request?.withdraw()
  }
}

/** Returns a sentence for the agent with the reason of an answer that denies or declines and ends the turn; otherwise null. The CLI drops the reason, so the driver passes this sentence to the agent later. */
function stopMessageOf(handed: HandedAnswer): string | null {
  const answer = handed.kind === 'answer' ? handed.answer : null
  if (answer?.kind !== 'deny' && answer?.kind !== 'decline') return null
  return answer.interrupt && answer.reason ? toAgent.stopReason(answer.reason) : null
}

/** Returns the ask of the carried request if the call is the same, so that the digest does not change; otherwise returns a new ask. */
function earlierAskOrNew(earlier: Ask | undefined, ask: Ask): Ask {
  if (earlier?.kind === 'questions') return earlier
  if (earlier?.kind !== 'approval' || ask.kind !== 'approval' || earlier.tool !== ask.tool) return ask
  // Do not compare the input of ExitPlanMode, because the path of the plan file may differ although the plan is the same.
  const isSame = ask.tool === planTool || canonicalJson(earlier.input) === canonicalJson(ask.input)
  return isSame ? earlier : ask
}

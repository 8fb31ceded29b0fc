/** The calls of one process that wait for an answer: each asked once under its tool use id, handed only while the process is there to take it, taken when its result is seen. */
import type { CanUseTool, PermissionResult } from '@anthropic-ai/claude-agent-sdk'
import { type Ask, canonicalJson, Fault, type JsonObject } from '@holdpoint/protocol'
import { jsonCopy } from '../../generator/json-copy.ts'
import type { AgentSession } from '../../session/agent-session.ts'
import type { HandedAnswer, OpenRequest } from '../../session/open-request.ts'
import type { CarriedRequests } from '../parking/carried-requests.ts'
import type { ParkingProbe } from '../parking/parking-method.ts'
import type { TranscriptStore } from '../transcript/transcript-store.ts'
import { askFor, type Permission, planTool, replyFor } from './permission.ts'

export interface PendingCallsOptions {
  readonly session: AgentSession
  readonly rows: TranscriptStore
  /** What an earlier process had asked and not been told. */
  readonly carried: CarriedRequests
  readonly parking: ParkingProbe
  /** Whether a call of this tool may be asked before the CLI does, to be put off if it must. */
  readonly mayPutOff: (tool: string) => boolean
  readonly pathOf: (agentId: string | undefined) => readonly string[]
  /** Resolves when the process is gone, or has shown for a while that it is not. */
  readonly gone: () => Promise<boolean>
  /** Something is asked, before it is. */
  readonly onBegin: () => void
  /** An ask began or ceased to wait, or came to its end. */
  readonly onChange: () => void
  /** The CLI asks for more than it would by itself: see `guard.ts`. */
  readonly guarded: boolean
  readonly mayBypass: boolean
  /** What a person is to know of a call, as a sentence. */
  readonly onTrouble: (sentence: string) => void
}

/** A call of the main agent's, which can be brought back under its own id; of an agent under it; or no tool, but asked by a server meanwhile. */
type Kind = 'main' | 'sub' | 'aside'

interface Waiting {
  readonly id: string
  readonly kind: Kind
  readonly verdict: Promise<PermissionResult>
  asked?: OpenRequest
  settled?: HandedAnswer
  handing: boolean
  /** It waits before the CLI has asked for it, and can be put off. */
  held: boolean
  /** The CLI has ceased to wait: true where that is because it is gone. */
  ceasing?: Promise<boolean>
  /** The CLI lives and no longer listens: what is answered now reaches nobody. */
  deaf: boolean
}

/** To a call that was made before the CLI had heard that it is to stop. */
const tooLate: PermissionResult = { behavior: 'deny', message: 'The person interrupted this.', interrupt: true }

/** The process is let go: whoever waits for this is gone with it. */
const never = new Promise<never>(() => {})

export class PendingCalls {
  readonly #options: PendingCallsOptions
  readonly #waiting = new Map<string, Waiting>()
  readonly #notes = new Map<string, string>()
  /** Calls that a person has allowed from now on, by what they are. */
  readonly #granted = new Set<string>()
  #leaving = false
  #leave = () => {}
  readonly #left = new Promise<void>(resolve => {
    this.#leave = resolve
  })
  #interrupted = false
  /** A person has ended the turn by their answer. */
  stopped: 'cancelled' | 'interrupted' | null = null
  /** What they said then. */
  remark: string | null = null

  constructor(options: PendingCallsOptions) {
    this.#options = options
  }

  /** Asks of which nobody knows the answer yet, by key. */
  get pending(): readonly string[] {
    return this.#heard().flatMap(call => (call.handing ? [] : call.id))
  }
  /** Whether anything was asked that has not come to its end. */
  get unsettled(): boolean {
    return this.#heard().length > 0
  }
  #heard(): readonly Waiting[] {
    return [...this.#waiting.values()].filter(call => !call.deaf)
  }
  get leaving(): boolean {
    return this.#leaving
  }

  /** What the CLI will put off when the process is let go. */
  get held(): boolean {
    return [...this.#waiting.values()].some(call => call.held && !call.handing)
  }

  /** The call that waits, where it waits alone and can be brought back; else why not. */
  alone(): { readonly id: string; readonly held: boolean } | { readonly why: string } {
    const [call, second] = this.#heard()
    if (!call) return { why: 'nothing waits' }
    if (second) return { why: 'several calls wait at once' }
    if (call.handing) return { why: 'its answer is on its way' }
    if (call.kind !== 'main') return { why: 'it was asked by an agent under the agent, or by a server' }
    return { id: call.id, held: call.held }
  }

  /** From now on nothing is handed: the process is about to go. What waits goes on waiting, at the gateway. */
  leave(): void {
    this.#leaving = true
    this.#leave()
  }

  canUse: CanUseTool = (tool, given, context) => {
    const { toolUseID: id } = context
    const before = this.#waiting.get(id)
    // The CLI may ask twice for one call, and for one that was held.
    if (before) return this.#heed(before, context.signal)
    if (this.#interrupted) return Promise.resolve(tooLate)
    const { cwd } = this.#options.session.info
    return this.#begin(id, context.agentID ? 'sub' : 'main', context.signal, waiting =>
      this.#permit(waiting, { tool, input: Object(given), context, cwd }),
    )
  }

  /** A call that the CLI is about to ask for, where it may have to be put off: it is asked at once, and held back until it is answered. True where it was put off instead. */
  async putOff(id: string, tool: string, input: object, signal: AbortSignal): Promise<boolean> {
    const { parking, mayPutOff } = this.#options
    if (parking.known === 'row' || parking.known === 'none' || !mayPutOff(tool)) return false
    const held = new AbortController()
    const withdraw = () => held.abort()
    signal.addEventListener('abort', withdraw, { once: true })
    const context = { signal: held.signal, toolUseID: id, requestId: id, displayName: tool }
    const answered = this.canUse(tool, { ...input }, context).then(() => false)
    const waiting = this.#waiting.get(id)
    if (!waiting) return answered
    waiting.held = true
    // The better way turns out to work: that needs no holding back.
    const freed = parking.find().then(way => (way === 'row' ? false : never))
    try {
      return await Promise.race([answered, freed, this.#left.then(() => !waiting.handing)])
    } finally {
      waiting.held = false
      signal.removeEventListener('abort', withdraw)
    }
  }

  /** Asks something that is no tool; it is answered here and now or not at all. */
  async ask(key: string, ask: Ask, signal: AbortSignal): Promise<HandedAnswer> {
    let settled: HandedAnswer | undefined
    try {
      await this.#begin(key, 'aside', signal, async waiting => {
        settled = await this.#settle(waiting, key, ask, [])
        return { behavior: 'allow' }
      })
    } catch (error) {
      this.#forget(key)
      throw error
    }
    if (!settled) throw new Error(`${key} was settled without a word`)
    return settled
  }

  /** The result of a call was seen: the agent has what it was told. */
  async taken(id: string): Promise<void> {
    const call = this.#waiting.get(id)
    if (!call?.settled) return
    this.#waiting.delete(id)
    await call.settled.taken()
    this.#options.onChange()
  }

  /** What is no tool shows no result of its own: the agent's next step is all there is to see. */
  async takenAside(): Promise<void> {
    for (const [key, call] of this.#waiting) if (call.kind === 'aside') await this.taken(key)
  }

  /** The turn is over, and with it everything that was told or still asked in it; but not what an agent in the background asks. */
  async turnOver(background: boolean): Promise<void> {
    for (const call of [...this.#waiting.values()]) {
      if (background && call.kind !== 'main') continue
      if (call.settled) await this.taken(call.id)
      else await this.#cease(call)
    }
  }

  /** A person stops the turn: nothing waits any more, and what the CLI asks before it has heard of it is not asked. */
  async interrupt(): Promise<void> {
    this.#interrupted = true
    await Promise.all([...this.#waiting.values()].map(call => this.#cease(call)))
  }
  resume(): void {
    this.#interrupted = false
  }

  /** What the person had to say beside their yes; once. */
  noteOf(id: string): string | undefined {
    const note = this.#notes.get(id)
    this.#notes.delete(id)
    return note
  }

  #begin(
    id: string,
    kind: Kind,
    signal: AbortSignal,
    run: (waiting: Waiting) => Promise<PermissionResult>,
  ): Promise<PermissionResult> {
    let begin = (_: Waiting) => {}
    const begun = new Promise<Waiting>(resolve => {
      begin = resolve
    })
    const waiting: Waiting = { id, kind, verdict: begun.then(run), handing: false, held: false, deaf: false }
    this.#waiting.set(id, waiting)
    this.#options.onBegin()
    begin(waiting)
    return this.#heed(waiting, signal)
  }

  #heed(waiting: Waiting, signal: AbortSignal): Promise<PermissionResult> {
    const cease = () => {
      waiting.ceasing ??= this.#ceased(waiting).catch(() => false)
    }
    if (signal.aborted) cease()
    else signal.addEventListener('abort', cease, { once: true })
    return waiting.verdict.finally(() => signal.removeEventListener('abort', cease))
  }

  async #permit(waiting: Waiting, permission: Permission): Promise<PermissionResult> {
    const { tool, context } = permission
    const { toolUseID: id, agentID, suggestions } = context
    const { carried, rows, pathOf, mayBypass, onTrouble } = this.#options
    try {
      const input = jsonCopy(permission.input, `the input of ${tool}`) as JsonObject // tools take objects
      const call = canonicalJson({ tool, input })
      if (await this.#isGranted(call, tool, input)) return this.#grant(id, input)
      const earlier = carried.take(id, tool, input)
      const key = earlier?.key ?? id
      const updates = rows.meta.offers?.[key] ?? suggestions ?? []
      if (updates.length > 0 && !earlier) rows.note({ offers: { [key]: updates } })
      const ask = sameAsk(earlier?.ask, { ...permission, input }, mayBypass)
      const settled = await this.#settle(waiting, key, ask, pathOf(agentID))
      const { result, note, stops, trouble, fromNowOn } = replyFor(settled, { tool, input, updates, mayBypass })
      if (fromNowOn) this.#granted.add(call)
      if (note) this.#notes.set(id, note)
      if (trouble) onTrouble(trouble)
      if (stops) this.stopped ??= stops
      this.remark ??= remarkOf(settled)
      return result
    } catch (error) {
      if (this.#leaving || this.#options.session.signal.aborted) return never
      if (!(error instanceof Fault)) throw error
      // What cannot be asked is not allowed; the agent reads why.
      this.#forget(id)
      onTrouble(`${tool} was refused, since it cannot be asked: ${error.message}`)
      return { behavior: 'deny', message: `This cannot be asked: ${error.message}` }
    }
  }

  /** Under a guard the CLI asks again for what a person has allowed for good a moment ago, in this very process. A rule of ours may still want it asked. */
  async #isGranted(call: string, tool: string, input: JsonObject): Promise<boolean> {
    const { guarded, session } = this.#options
    return guarded && this.#granted.has(call) && (await session.check(tool, input)).rule === undefined
  }
  #grant(id: string, input: JsonObject): PermissionResult {
    this.#forget(id)
    return { behavior: 'allow', updatedInput: { ...input } }
  }

  async #settle(waiting: Waiting, key: string, ask: Ask, agentPath: readonly string[]): Promise<HandedAnswer> {
    const [asked] = await this.#options.session.open([{ ask, key, agentPath }])
    if (!asked) throw new Error('one ask opens one request')
    waiting.asked = asked
    if (waiting.deaf) await asked.withdraw()
    this.#options.onChange()
    await Promise.race([asked.resolved(), this.#left])
    // It may have ceased to wait a moment ago: nothing is handed before it is known why.
    if (this.#leaving || (await waiting.ceasing) || this.#leaving) return never
    waiting.handing = true
    const settled = await asked.hand()
    if (waiting.deaf) return this.#unheard(waiting, settled)
    waiting.settled = settled
    this.#options.onChange()
    return settled
  }

  #forget(id: string): void {
    this.#waiting.delete(id)
    this.#options.onChange()
  }

  /** Nobody was there to be told. */
  async #unheard({ id }: Waiting, settled: HandedAnswer): Promise<HandedAnswer> {
    await settled.dropped()
    this.#forget(id)
    const { request, replayed, taken, dropped } = settled
    return { kind: 'agent', reason: 'interrupted', request, replayed, taken, dropped }
  }

  /** The CLI no longer waits. Where that is because it died, the request stays: the session parks with it. */
  async #ceased(waiting: Waiting): Promise<boolean> {
    if (this.#leaving || (await this.#options.gone())) return true
    await this.#cease(waiting)
    return false
  }

  async #cease(waiting: Waiting): Promise<void> {
    if (this.#leaving || waiting.settled || waiting.deaf) return
    waiting.deaf = true
    this.#options.onChange()
    if (!waiting.handing) await waiting.asked?.withdraw()
  }
}

/** A refusal that also stops the turn: the CLI drops what was said with it. */
function remarkOf(settled: HandedAnswer): string | null {
  const answer = settled.kind === 'answer' ? settled.answer : null
  if (answer?.kind !== 'deny' && answer?.kind !== 'decline') return null
  return answer.interrupt && answer.reason ? `The person who stopped you said: ${answer.reason}` : null
}

/** A call that was asked before is asked again in the words of the record, where it is the same call. */
function sameAsk(earlier: Ask | undefined, permission: Permission, mayBypass: boolean): Ask {
  if (earlier?.kind === 'questions') return earlier
  if (earlier?.kind !== 'approval' || earlier.tool !== permission.tool) return askFor(permission, mayBypass)
  // Where the plan is kept may have changed, what was planned has not: the call has no input of its own.
  const same = permission.tool === planTool || canonicalJson(earlier.input) === canonicalJson(permission.input)
  return same ? earlier : askFor(permission, mayBypass)
}

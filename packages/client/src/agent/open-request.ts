/** The agent's side of an open request: waits for the resolution, checks it, commits `handed` under the fence, and only then returns the answer (G5, G11). */
import {
  type AgentReason,
  type Answer,
  answerForAgent,
  type Call,
  Fault,
  type JsonObject,
  limits,
  type Request,
  type Resolution,
} from '@holdpoint/protocol'
import { type ExpectedRequest, permittedInput, requireExpected } from './expected-request.ts'

/** Sent to an agent instead of an allow if the allowed call may already have run. */
export const unknownOutcome =
  'This was approved and may have started before a crash; its outcome is unknown. Check before running it again.'
/** Sent to an agent whose request expired. */
export const nobodyAnswered = 'Nobody answered.'

/** Sent to an agent instead of an allow if the rules changed before the answer reached the agent. */
export const rulesChanged =
  'A rule allowed this, but the rules were changed before the answer arrived. Nothing has run; ask again.'

export type CrashPoint = (point: string) => void

export type AskOutcome =
  | {
      readonly kind: 'answer'
      /** The person's answer, with its comments as part of the reason or the note. */
      readonly answer: Answer
      readonly by: Resolution['by']
      /** The allowed input, as the agent sent it or as the person edited it. Null if the answer is not an allow. */
      readonly input: JsonObject | null
    }
  | { readonly kind: 'nobody'; readonly reason: 'nobody answered' }
  | { readonly kind: 'agent'; readonly reason: AgentReason }
  /** The request was allowed and handed before a crash. The call may have run, so it is not allowed a second time. */
  | { readonly kind: 'unknown'; readonly answer: Answer }

export type HandedAnswer = AskOutcome & {
  readonly request: Request
  /** True if the agent had already taken this answer. The answer is returned again for a replay and must not cause the allowed action to run again. */
  readonly replayed: boolean
  /** Call this when the agent's next action shows that it has received the answer. */
  taken(): Promise<void>
  /** Call this instead of `taken` if the agent did not receive the answer. */
  dropped(): Promise<void>
}

/** Duration of one long poll. It is half of the gateway's maximum, so that a lost connection is noticed in time. */
export const pollMs = limits.waitMaxMs / 2

interface OpenRequestOptions {
  readonly call: Call
  readonly fence: number | undefined
  readonly crashPoint: CrashPoint
  readonly expected: ExpectedRequest
  /** The gateway's reply to `openRequest`. */
  readonly request: Request
}

export class OpenRequest {
  readonly #call: Call
  readonly #fence: number | undefined
  readonly #crashPoint: CrashPoint
  readonly #expected: ExpectedRequest
  #request: Request
  #withdrawn = false

  constructor({ call, fence, crashPoint, expected, request }: OpenRequestOptions) {
    this.#call = call
    this.#fence = fence
    this.#crashPoint = crashPoint
    this.#expected = expected
    this.#request = requireExpected(expected, request)
  }

  get request(): Request {
    return this.#request
  }

  /** Waits until the request is resolved, without a time limit. */
  async resolved(): Promise<Request> {
    const { id } = this.#expected
    while (this.#request.status === 'pending') this.#accept(await this.#call('getRequest', { id, wait: pollMs }))
    this.#crashPoint('runner:resolution-seen')
    return this.#request
  }

  /** Withdraws the request. If it has been answered but the answer has not been handed, the answer is not delivered. */
  async withdraw(): Promise<void> {
    this.#withdrawn = true
    this.#accept(await this.#call('withdrawRequest', { id: this.#expected.id, fence: this.#fence }))
  }

  /** Commits `handed`, then returns the answer for the agent. */
  async hand(): Promise<HandedAnswer> {
    const { resolution, delivery } = this.#request
    if (!resolution) throw new Error(`hand() was called before request ${this.#request.id} was resolved`)
    // If `by` is "agent", the gateway writes only reasons that AgentReason lists.
    if (resolution.by === 'agent')
      return this.#handedAnswer({ kind: 'agent', reason: resolution.reason as AgentReason }, false)
    const { answer } = resolution
    if (delivery.state === 'unknown' && answer?.kind === 'allow')
      return this.#handedAnswer({ kind: 'unknown', answer }, false)
    const outcome = outcomeOf(this.#expected, resolution)
    const replayed = delivery.state === 'taken'
    const problem = replayed ? null : await this.#commitHanded()
    if (problem === 'ended')
      return this.#handedAnswer({ kind: 'agent', reason: this.#withdrawn ? 'withdrawn' : 'interrupted' }, false)
    if (problem === 'rulesChanged') {
      const deny = { kind: 'deny', reason: rulesChanged } as const
      return this.#handedAnswer({ kind: 'answer', answer: deny, by: 'rule', input: null }, false)
    }
    return this.#handedAnswer(outcome, replayed)
  }

  /** Returns null, or why the answer can no longer be delivered: the agent's side ended the request first, or the rules no longer allow it. */
  async #commitHanded(): Promise<'ended' | 'rulesChanged' | null> {
    try {
      await this.#report('handed')
    } catch (error) {
      const isRefused = error instanceof Fault && (error.code === 'already_resolved' || error.code === 'gone')
      if (!isRefused) throw error
      this.#accept(await this.#call('getRequest', { id: this.#expected.id }))
      const { delivery, resolution } = this.#request
      if (delivery.state !== 'undeliverable') throw error
      if (error.code === 'already_resolved') return 'ended'
      if (resolution?.by !== 'rule') throw error
      return 'rulesChanged'
    }
    this.#crashPoint('runner:handed')
    return null
  }

  #handedAnswer(outcome: AskOutcome, replayed: boolean): HandedAnswer {
    // An answer that was refused is already marked as undeliverable.
    const isDelivered = this.#request.delivery.state !== 'undeliverable'
    let open = !replayed && isDelivered && (outcome.kind === 'answer' || outcome.kind === 'nobody')
    const taken = async () => {
      if (!open) return
      open = false
      this.#crashPoint('runner:given')
      await this.#report('taken')
      this.#crashPoint('runner:taken')
    }
    const dropped = async () => {
      if (!open) return
      open = false
      await this.#report('undeliverable', 'the turn ended first')
    }
    return { ...outcome, request: this.#request, replayed, taken, dropped }
  }

  async #report(state: 'handed' | 'taken' | 'undeliverable', reason?: string): Promise<void> {
    const { id } = this.#expected
    this.#accept(await this.#call('reportDelivery', { id, state, reason, fence: this.#fence }))
  }

  #accept(request: Request): void {
    this.#request = requireExpected(this.#expected, request)
  }
}

function outcomeOf(expected: ExpectedRequest, resolution: Resolution): AskOutcome {
  const { answer, by } = resolution
  if (by === 'deadline' || !answer) return { kind: 'nobody', reason: 'nobody answered' }
  return {
    kind: 'answer',
    answer: answerForAgent(expected.ask, answer),
    by,
    input: permittedInput(expected, resolution),
  }
}

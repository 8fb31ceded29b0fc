/** An ask on its way to the agent: waited for, handed under the fence, and only then given (G5). */
import {
  type AgentReason,
  type Answer,
  type Call,
  Fault,
  type JsonObject,
  limits,
  type Request,
  type Resolution,
} from '@holdpoint/protocol'

/** Sent to an agent in place of an allow that may already have run. */
export const unknownOutcome =
  'This was approved and may have started before a crash; its outcome is unknown. Check before running it again.'
/** Sent to an agent whose request expired. */
export const nobodyAnswered = 'Nobody answered.'

export type CrashPoint = (point: string) => void

export type AskOutcome =
  | {
      readonly kind: 'answer'
      readonly answer: Answer
      readonly by: Resolution['by']
      /** What was allowed to run: the input as asked, or as the person edited it. Null where nothing was allowed. */
      readonly input: JsonObject | null
    }
  | { readonly kind: 'nobody'; readonly reason: 'nobody answered' }
  | { readonly kind: 'agent'; readonly reason: AgentReason }
  /** It was allowed and handed before a crash: whether it ran nobody knows, and it is not allowed a second time. */
  | { readonly kind: 'unknown'; readonly answer: Answer }

export type HandedAnswer = AskOutcome & {
  readonly request: Request
  /** The agent went on with this before: it is the record, nothing runs by it. */
  readonly replayed: boolean
  /** To be called when the agent's own next step is seen. */
  taken(): Promise<void>
  /** To be called instead when it was not given to the agent after all. */
  dropped(): Promise<void>
}

/** How long one poll waits: half of what the gateway grants, so that a lost connection is noticed within it. */
export const pollMs = limits.waitMaxMs / 2

interface AskedOptions {
  readonly call: Call
  readonly fence: number | undefined
  readonly crashPoint: CrashPoint
  readonly request: Request
}

/** An opened request, seen from the agent's side. */
export class OpenRequest {
  readonly #call: Call
  readonly #fence: number | undefined
  readonly #crashPoint: CrashPoint
  #request: Request
  #withdrawn = false

  constructor({ call, fence, crashPoint, request }: AskedOptions) {
    this.#call = call
    this.#fence = fence
    this.#crashPoint = crashPoint
    this.#request = request
  }

  get request(): Request {
    return this.#request
  }

  /** Waits, for as long as it takes. */
  async resolved(): Promise<Request> {
    const id = this.#request.id
    while (this.#request.status === 'pending') this.#request = await this.#call('getRequest', { id, wait: pollMs })
    this.#crashPoint('runner:resolution-seen')
    return this.#request
  }

  /** The agent no longer asks: an answer that was not handed yet stays with the gateway. */
  async withdraw(): Promise<void> {
    this.#withdrawn = true
    this.#request = await this.#call('withdrawRequest', { id: this.#request.id, fence: this.#fence })
  }

  /** Commits that the resolution is about to be given to the agent, where it may be. */
  async hand(): Promise<HandedAnswer> {
    const { resolution, delivery } = this.#request
    if (!resolution) throw new Error(`request ${this.#request.id} is handed before it is resolved`)
    // The gateway writes only reasons of the closed list for the agent's side.
    if (resolution.by === 'agent')
      return this.#settled({ kind: 'agent', reason: resolution.reason as AgentReason }, false)
    const { answer } = resolution
    if (delivery.state === 'unknown' && answer?.kind === 'allow')
      return this.#settled({ kind: 'unknown', answer }, false)
    const replayed = delivery.state === 'taken'
    if (!replayed && !(await this.#handed()))
      return this.#settled({ kind: 'agent', reason: this.#withdrawn ? 'withdrawn' : 'interrupted' }, false)
    return this.#settled(outcomeOf(this.#request, resolution), replayed)
  }

  /** False where it cannot be delivered any more: the agent's side had ended the ask before the answer got here. */
  async #handed(): Promise<boolean> {
    try {
      await this.#report('handed')
    } catch (error) {
      if (!(error instanceof Fault && error.code === 'already_resolved')) throw error
      this.#request = await this.#call('getRequest', { id: this.#request.id })
      if (this.#request.delivery.state !== 'undeliverable') throw error
      return false
    }
    this.#crashPoint('runner:handed')
    return true
  }

  #settled(outcome: AskOutcome, replayed: boolean): HandedAnswer {
    let open = !replayed && (outcome.kind === 'answer' || outcome.kind === 'nobody')
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
      await this.#report('undeliverable', 'the turn was over first')
    }
    return { ...outcome, request: this.#request, replayed, taken, dropped }
  }

  async #report(state: 'handed' | 'taken' | 'undeliverable', reason?: string): Promise<void> {
    const { id } = this.#request
    this.#request = await this.#call('reportDelivery', { id, state, reason, fence: this.#fence })
  }
}

function outcomeOf({ ask }: Request, { answer, by }: Resolution): AskOutcome {
  if (by === 'deadline' || !answer) return { kind: 'nobody', reason: 'nobody answered' }
  const input = answer.kind === 'allow' && ask.kind === 'approval' ? (answer.input ?? ask.input) : null
  return { kind: 'answer', answer, by, input }
}

/** Connects an agent that runs in a process of its own: `connectAgent` starts or reattaches a session, and `ExternalAgent` appends events and asks. */
import {
  type AgentEvent,
  type AskInput,
  type Call,
  type Clock,
  type Ending,
  externalInfo,
  Fault,
  type OnDeadline,
  type SessionId,
  systemClock,
} from '@holdpoint/protocol'
import { AgentSession, type AskOptions, endsSession } from './agent-session.ts'
import { type Approval, type ApprovalFields, approvalAsk, approvalOf } from './approval.ts'
import { type CrashPoint, type HandedAnswer, unknownOutcome } from './open-request.ts'
import { retryingCall } from './retrying-call.ts'

export interface ConnectOptions {
  readonly call: Call
  readonly title?: string
  readonly cwd?: string
  /** The session to reattach. Without this option, `connectAgent` starts a new session. */
  readonly session?: SessionId
  readonly deadlineMs?: number
  readonly onDeadline?: OnDeadline
  readonly clock?: Clock
  readonly crashPoint?: CrashPoint
  /** Aborting cancels `connectAgent` while it is running, and later makes the connected session stop writing. */
  readonly signal?: AbortSignal
}

export async function connectAgent(options: ConnectOptions): Promise<ExternalAgent> {
  const { call: callOnce, title, cwd, deadlineMs, onDeadline, clock = systemClock, crashPoint, signal } = options
  const call = retryingCall({ call: callOnce, clock, signal: signal ?? new AbortController().signal })
  const start = { driver: externalInfo.name, title, cwd, deadlineMs, onDeadline }
  const key = { idempotencyKey: crypto.randomUUID() }
  const id = options.session ?? (await call('startSession', start, key)).id
  const { fence, ttlMs, session, turnOpen } = await call(
    'attachSession',
    { id },
    { idempotencyKey: crypto.randomUUID() },
  )
  const lost = signal ? { lost: signal } : {}
  const stopRenewing = keepRenewing({ call: callOnce, id, fence, ttlMs, clock })
  signal?.addEventListener('abort', stopRenewing, { once: true })
  const connected = new AgentSession({ call: callOnce, session, fence, turnOpen, clock, crashPoint, ...lost })
  return new ExternalAgent(connected, stopRenewing)
}

interface RenewedLease {
  readonly call: Call
  readonly id: SessionId
  readonly fence: number
  readonly ttlMs: number
  readonly clock: Clock
}

/** Renews the lease of the agent until the returned function is called, so that the session stays connected while the agent works without calling. */
function keepRenewing({ call, id, fence, ttlMs, clock }: RenewedLease): () => void {
  const renew = () => {
    call('renewSession', { id, fence }).catch((error: unknown) => {
      // The agent's next call reports every error. After other errors, the next renewal comes soon.
      if (error instanceof Fault && endsSession(error, id)) cancel()
    })
    cancel = clock.after(ttlMs / 3, renew, { background: true })
  }
  let cancel = clock.after(ttlMs / 3, renew, { background: true })
  return () => cancel()
}

export interface ExternalApprovalOptions extends ApprovalFields, Omit<AskOptions, 'key' | 'signal'> {
  /** Your own id of the question. With the same key, an agent that was restarted gets the same request. */
  readonly key?: string
}

export class ExternalAgent {
  readonly session: AgentSession
  readonly #stopRenewing: () => void
  readonly #openAsks = new Map<string, AbortController>()
  /** Allows whose action may still be running. They count as taken when the agent calls again. */
  readonly #allowed = new Set<HandedAnswer>()

  constructor(session: AgentSession, stopRenewing: () => void) {
    this.session = session
    this.#stopRenewing = stopRenewing
  }

  get id(): SessionId {
    return this.session.info.id
  }

  /** Appends events to the session's log. A string is appended as a message. */
  async say(...items: readonly (string | AgentEvent)[]): Promise<void> {
    await this.#reportTaken()
    const events = items.map(
      (item): AgentEvent =>
        typeof item === 'string' ? { type: 'message.added', block: crypto.randomUUID(), text: item } : item,
    )
    await this.session.say(...events)
  }

  /** Asks a person to allow an action, and returns the input to run or the reason why not. The next call of the agent shows the gateway that the answer has arrived. */
  async approval(
    prompt: string,
    { key = crypto.randomUUID(), ...options }: ExternalApprovalOptions = {},
  ): Promise<Approval> {
    await this.#reportTaken()
    const { agentPath, deadlineMs, onDeadline, ...fields } = options
    const handed = await this.ask(approvalAsk(prompt, fields), {
      ...{ key, ...(agentPath && { agentPath }) },
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(onDeadline === undefined ? {} : { onDeadline }),
    })
    const result = approvalOf(handed)
    // The agent got this allow before it was restarted.
    if (result.allowed && handed.replayed) return { allowed: false, reason: unknownOutcome }
    if (result.allowed) this.#allowed.add(handed)
    else await handed.taken()
    return result
  }

  async #reportTaken(): Promise<void> {
    const handed = [...this.#allowed]
    this.#allowed.clear()
    await Promise.all(handed.map(answer => answer.taken()))
  }

  async ask(ask: AskInput, options: Omit<AskOptions, 'signal'>): Promise<HandedAnswer> {
    const { key } = options
    const controller = this.#openAsks.get(key) ?? new AbortController()
    this.#openAsks.set(key, controller)
    try {
      return await this.session.ask(ask, { ...options, signal: controller.signal })
    } finally {
      this.#openAsks.delete(key)
    }
  }

  /** Withdraws the request with this key. The pending `ask` resolves with reason `withdrawn`. */
  withdraw(key: string): void {
    this.#openAsks.get(key)?.abort()
  }

  async end(ending: Ending = { reason: 'done' }): Promise<void> {
    await this.#reportTaken()
    await this.session.end(ending)
    this.#stopRenewing()
  }
}

/** The hand of an agent that lives elsewhere: it opens a session of its own, or comes back to it, and asks. */
import { randomUUID } from 'node:crypto'
import {
  type AgentEvent,
  type Ask,
  type Call,
  type Clock,
  type Ending,
  externalInfo,
  type OnDeadline,
  type SessionId,
  systemClock,
} from '@holdpoint/protocol'
import { AgentSession, type AskOptions } from './session/agent-session.ts'
import type { CrashPoint, HandedAnswer } from './session/open-request.ts'
import { retryingCall } from './session/retrying-call.ts'

export interface ConnectOptions {
  readonly call: Call
  readonly title?: string
  readonly cwd?: string
  /** The session to come back to; without it a new one is started. */
  readonly session?: SessionId
  readonly deadlineMs?: number
  readonly onDeadline?: OnDeadline
  readonly clock?: Clock
  readonly crashPoint?: CrashPoint
  /** Gives up connecting, or the session later on. */
  readonly signal?: AbortSignal
}

export async function connectAgent(options: ConnectOptions): Promise<ExternalAgent> {
  const { call: once, title, cwd, deadlineMs, onDeadline, clock = systemClock, crashPoint, signal } = options
  const call = retryingCall({ call: once, clock, signal: signal ?? new AbortController().signal })
  const start = { driver: externalInfo.name, title, cwd, deadlineMs, onDeadline }
  const key = { idempotencyKey: randomUUID() }
  const id = options.session ?? (await call('startSession', start, key)).id
  const { fence, session, turnOpen } = await call('attachSession', { id }, { idempotencyKey: randomUUID() })
  const lost = signal ? { lost: signal } : {}
  return new ExternalAgent(new AgentSession({ call: once, session, fence, turnOpen, clock, crashPoint, ...lost }))
}

export class ExternalAgent {
  readonly session: AgentSession
  readonly #asking = new Map<string, AbortController>()

  constructor(session: AgentSession) {
    this.session = session
  }

  get id(): SessionId {
    return this.session.info.id
  }

  /** Text becomes a message of its own; anything else goes as it is. */
  say(...items: readonly (string | AgentEvent)[]): Promise<void> {
    const sayings = items.map(
      (item): AgentEvent =>
        typeof item === 'string' ? { type: 'message.added', block: randomUUID(), text: item } : item,
    )
    return this.session.say(...sayings)
  }

  async ask(ask: Ask, options: Omit<AskOptions, 'signal'>): Promise<HandedAnswer> {
    const { key } = options
    const controller = this.#asking.get(key) ?? new AbortController()
    this.#asking.set(key, controller)
    try {
      return await this.session.ask(ask, { ...options, signal: controller.signal })
    } finally {
      this.#asking.delete(key)
    }
  }

  /** No longer asks under this key; who waits for it is told so. */
  withdraw(key: string): void {
    this.#asking.get(key)?.abort()
  }

  end(ending: Ending = { reason: 'done' }): Promise<void> {
    return this.session.end(ending)
  }
}

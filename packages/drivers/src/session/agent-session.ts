/** A session as its driver sees it: say, check, ask, commands, park, end. How that reaches the gateway, and what it survives, is known only here. */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import {
  type AgentEvent,
  type Ask,
  type Call,
  type Clock,
  type Command,
  type CommandOutcome,
  type Cursor,
  contract,
  type Ending,
  type Event,
  Fault,
  faultFromZod,
  type JsonObject,
  limits,
  type OnDeadline,
  type Session,
  systemClock,
  type Verdict,
} from '@holdpoint/protocol'
import { EventBatcher } from './event-batcher.ts'
import { type CrashPoint, type HandedAnswer, OpenRequest, pollMs } from './open-request.ts'
import { retryingCall } from './retrying-call.ts'

export interface AgentSessionOptions {
  readonly call: Call
  readonly session: Session
  readonly fence?: number
  readonly turnOpen?: boolean
  readonly clock?: Clock
  readonly crashPoint?: CrashPoint
  /** Asks the driver to let go; the session can still be parked or ended. */
  readonly stop?: AbortSignal
  /** The lease is void, or the gateway stays away: nothing can be written any more. */
  readonly lost?: AbortSignal
}

export interface AskOptions {
  /** The agent's own id of the ask: asking again with it is asking once (G4). */
  readonly key: string
  readonly agentPath?: readonly string[]
  readonly deadlineMs?: number
  readonly onDeadline?: OnDeadline
  /** Aborting it withdraws the request. */
  readonly signal?: AbortSignal
}

export type OpenAsk = Omit<AskOptions, 'signal'> & { readonly ask: Ask }

export interface SessionCommand extends Command {
  /** A predecessor had begun it: whether its agent had it, the driver must know. */
  readonly redelivered: boolean
  take(): Promise<void>
  done(outcome?: CommandOutcome): Promise<void>
}

export class AgentSession {
  readonly info: Session
  readonly turnOpen: boolean
  /** Aborts when the lease is lost or the session is over, with a Fault; or when the driver is to let go. */
  readonly signal: AbortSignal
  readonly #controller = new AbortController()
  readonly #fence: number | undefined
  readonly #crashPoint: CrashPoint
  readonly #call: Call
  /** Outlives the wish to let go: what is left to say then, and the letting go itself. */
  readonly #lastCall: Call
  readonly #outbox: EventBatcher
  #detached: Promise<void> | null = null
  #unfinished: string | null = null

  constructor(options: AgentSessionOptions) {
    const { call, clock = systemClock, stop, lost } = options
    this.info = options.session
    this.turnOpen = options.turnOpen ?? false
    this.signal = this.#controller.signal
    setMaxListeners(0, this.signal)
    this.#fence = options.fence
    this.#crashPoint = options.crashPoint ?? (() => {})
    for (const signal of [stop, lost]) follow(this.#controller, signal)
    const watched: Call = async (op, input, callOptions) => {
      try {
        return await call(op, input, callOptions)
      } catch (error) {
        if (error instanceof Fault && endsSession.has(error.code)) this.#controller.abort(error)
        throw error
      }
    }
    this.#call = retryingCall({ call: watched, clock, signal: this.signal })
    this.#lastCall = retryingCall({ call: watched, clock, signal: lost ?? new AbortController().signal })
    this.#outbox = new EventBatcher({ post: items => this.#post(items), clock })
  }

  /** Resolves when committed. Live text is shown, not kept, and goes at most once per interval. */
  say(...sayings: readonly AgentEvent[]): Promise<void> {
    return this.#outbox.push(sayings)
  }

  flush(): Promise<void> {
    return this.#outbox.flush()
  }

  check(tool: string, input: JsonObject): Promise<Verdict> {
    return this.#call('checkTool', { id: this.info.id, tool, input, fence: this.#fence })
  }

  /** Opens requests once everything said before them is committed, and leaves the waiting to the caller. All of them, or none. */
  async open(asks: readonly OpenAsk[]): Promise<readonly OpenRequest[]> {
    const inputs = asks.map(ask => this.#checked(ask))
    await this.flush()
    const opened: OpenRequest[] = []
    for (const input of inputs) {
      try {
        const request = await this.#call('openRequest', { ...input, fence: this.#fence })
        opened.push(new OpenRequest({ call: this.#call, fence: this.#fence, crashPoint: this.#crashPoint, request }))
      } catch (error) {
        for (const asked of opened) if (!this.signal.aborted) await asked.withdraw()
        throw error
      }
      this.#crashPoint('runner:asked')
    }
    return opened
  }

  #checked({ agentPath, ...ask }: OpenAsk) {
    const input = { ...ask, ...(agentPath ? { agentPath: [...agentPath] } : {}), id: this.info.id }
    const parsed = contract.openRequest.input.safeParse(input)
    if (!parsed.success) throw faultFromZod(parsed.error, 'the ask')
    return parsed.data
  }

  /** Asks, waits, and resolves once `handed` is committed. */
  async ask(ask: Ask, { signal, ...options }: AskOptions): Promise<HandedAnswer> {
    signal?.throwIfAborted()
    const [asked] = await this.open([{ ask, ...options }])
    if (!asked) throw new Error('one ask opens one request')
    let withdrawn: Promise<void> | undefined
    const withdraw = () => {
      withdrawn = asked.withdraw()
      // Rethrown below, once the waiting is over.
      withdrawn.catch(() => {})
    }
    if (signal?.aborted) withdraw()
    else signal?.addEventListener('abort', withdraw, { once: true })
    try {
      await asked.resolved()
      await withdrawn
    } finally {
      signal?.removeEventListener('abort', withdraw)
    }
    return asked.hand()
  }

  /** What people want of the session, in order; ends when the session is over for this driver. */
  async *commands(): AsyncGenerator<SessionCommand, void, undefined> {
    let after: number | undefined
    while (!this.signal.aborted) {
      let page: { readonly items: readonly Command[] }
      try {
        page = await this.#call('listCommands', { id: this.info.id, wait: pollMs, after })
      } catch (error) {
        if (this.signal.aborted) return
        throw error
      }
      for (const command of page.items) {
        after = command.seq
        yield this.#command(command)
      }
    }
  }

  /** The session's own log, from the beginning or behind a cursor. */
  async *history(after?: Cursor): AsyncGenerator<Event, void, undefined> {
    for (let from: Cursor | null | undefined = after; from !== null; ) {
      const page: { readonly items: readonly Event[]; readonly next: string | null } = await this.#call('listEvents', {
        id: this.info.id,
        after: from,
        limit: limits.pageMax,
      })
      yield* page.items
      from = page.next
    }
  }

  /** Lets go without ending: an answer or a message brings the session back. What will not be there then, and why, is told to people. */
  park(unfinished?: string): Promise<void> {
    if (unfinished !== undefined && !this.#detached) {
      this.#unfinished = unfinished
      // Said before it is let go; what cannot be said is no reason to keep the session.
      this.say({ type: 'error.raised', code: 'unfinished', message: unfinished }).catch(() => {})
    }
    return this.#detach()
  }

  end(ending: Ending): Promise<void> {
    return this.#detach(ending)
  }

  /** Whether it has been parked or ended from here. */
  get detached(): boolean {
    return this.#detached !== null
  }
  /** What was lost when it was parked; null where nothing was. */
  get unfinished(): string | null {
    return this.#unfinished
  }

  #detach(ending?: Ending): Promise<void> {
    this.#detached ??= this.#letGo(ending)
    return this.#detached
  }

  async #letGo(ending: Ending | undefined): Promise<void> {
    // Whoever said something that cannot be said was told so then; it is no reason to keep the session.
    await this.flush().catch(() => {})
    const input = { id: this.info.id, fence: this.#fence, ending }
    await this.#lastCall('detachSession', input, { idempotencyKey: randomUUID() })
    this.#controller.abort(new Fault('session_ended', `This driver has let go of session ${this.info.id}`))
  }

  #command(command: Command): SessionCommand {
    const { id } = command
    return {
      ...command,
      redelivered: command.state === 'taken',
      take: async () => {
        await this.#call('takeCommand', { id, fence: this.#fence })
      },
      done: async outcome => {
        await this.#call('finishCommand', { id, fence: this.#fence, outcome })
      },
    }
  }

  async #post(items: AgentEvent[]): Promise<void> {
    // Live text is not kept, so saying it twice does no harm and costs no row.
    const kept = items.some(item => !('offset' in item))
    const options = kept ? { idempotencyKey: randomUUID() } : undefined
    await this.#lastCall('appendEvents', { id: this.info.id, items, fence: this.#fence }, options)
  }
}

const endsSession: ReadonlySet<Fault['code']> = new Set(['fenced', 'session_ended'])

function follow(controller: AbortController, signal: AbortSignal | undefined): void {
  if (!signal) return
  if (signal.aborted) controller.abort(signal.reason)
  const abort = () => controller.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  controller.signal.addEventListener('abort', () => signal.removeEventListener('abort', abort), { once: true })
}

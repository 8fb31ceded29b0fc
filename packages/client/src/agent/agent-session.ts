/** The driver's interface to one session: append events, check rules, ask, receive commands, park, end. Handles the calls to the gateway, including retries and lost leases. */
import {
  type AgentEvent,
  type AskInput,
  type AttachmentFile,
  type Call,
  type Clock,
  type Command,
  type CommandBody,
  type CommandOutcome,
  type Cursor,
  contract,
  downloadAttachment,
  type Ending,
  type Event,
  Fault,
  faultFromZod,
  type Input,
  limits,
  type MomentReply,
  type OnDeadline,
  type Request,
  type Session,
  type SessionId,
  type StoredAgentEvent,
  systemClock,
  type ToolCall,
  type Variable,
  type VariableValue,
  type Verdict,
  withFolder,
} from '@holdpoint/protocol'
import { EventBatcher } from './event-batcher.ts'
import { expectRequest } from './expected-request.ts'
import { jsonCopy } from './json-copy.ts'
import { allowManyListeners } from './node-modules.ts'
import { type CrashPoint, type HandedAnswer, OpenRequest, pollMs } from './open-request.ts'
import { OpenToolCalls } from './open-tool-calls.ts'
import { retryingCall } from './retrying-call.ts'

export interface AgentSessionOptions {
  readonly call: Call
  readonly session: Session
  readonly fence?: number
  readonly turnOpen?: boolean
  readonly clock?: Clock
  readonly crashPoint?: CrashPoint
  /** Asks the driver to stop. The driver can still park or end the session. */
  readonly stop?: AbortSignal
  /** Aborts when nothing more can be written, because the lease is void or the gateway stays unreachable. */
  readonly lost?: AbortSignal
  /** Receives details about a failed turn that help people correct their own agent, such as a stack. */
  readonly onTurnFailed?: (message: string) => void
}

export interface AskOptions {
  /** The agent's own id of the ask. Asking again with the same key finds the same request (G4). */
  readonly key: string
  readonly agentPath?: readonly string[]
  readonly deadlineMs?: number
  readonly onDeadline?: OnDeadline
  /** Aborting this signal withdraws the request. */
  readonly signal?: AbortSignal
}

export type OpenAsk = Omit<AskOptions, 'signal'> & { readonly ask: AskInput }

/** A message with the content of its attachments. */
export interface MessageBody {
  readonly kind: 'message'
  readonly text: string
  readonly attachments: readonly AttachmentFile[]
}
export interface SessionCommand extends Omit<Command, 'body'> {
  readonly body: MessageBody | Exclude<CommandBody, { readonly kind: 'message' }>
  /** True if an earlier runner had already taken this command. The driver must find out whether its agent received the command. */
  readonly redelivered: boolean
  take(): Promise<void>
  done(outcome?: CommandOutcome): Promise<void>
}

/** A call that the agent would make without asking. */
export interface CheckedCall extends ToolCall {
  /** The agent's own id of the call. If the agent also asks about the call, watchers see it once. */
  readonly key: string
  /** The names of the subagents down to the one that makes the call. */
  readonly agentPath: readonly string[]
}

/** A moment of the session that watchers see. */
export type ReportedMoment = Omit<Input<'reportMoment'>, 'id' | 'fence'>

/** A call that has finished, with the beginning of its output. */
export interface FinishedCall extends CheckedCall {
  readonly result: NonNullable<ReportedMoment['result']>
}

export class AgentSession {
  readonly info: Session
  readonly turnOpen: boolean
  /** Writes to the runner's log why a turn of this agent failed. */
  readonly logFailedTurn: (message: string) => void
  /** Aborts with a Fault when the gateway reports that the session has ended or that another runner holds it, and after this driver has released it. Otherwise aborts with the reason of `stop` or `lost`. */
  readonly signal: AbortSignal
  readonly openToolCalls = new OpenToolCalls()
  readonly #controller = new AbortController()
  readonly #fence: number | undefined
  readonly #crashPoint: CrashPoint
  readonly #call: Call
  /** Like `#call`, but still works after `stop`. It is used to append events and to release the session. */
  readonly #callWhileStopping: Call
  readonly #batcher: EventBatcher
  #detached: Promise<void> | null = null
  #unfinished: string | null = null

  constructor(options: AgentSessionOptions) {
    const { call, clock = systemClock, stop, lost } = options
    this.info = options.session
    this.turnOpen = options.turnOpen ?? false
    this.logFailedTurn = options.onTurnFailed ?? (() => {})
    this.signal = this.#controller.signal
    allowManyListeners(this.signal)
    this.#fence = options.fence
    this.#crashPoint = options.crashPoint ?? (() => {})
    for (const signal of [stop, lost]) abortWith(this.#controller, signal)
    const watchedCall: Call = async (op, input, callOptions) => {
      try {
        return await call(op, input, callOptions)
      } catch (error) {
        if (error instanceof Fault && endsSession(error, this.info.id)) this.#controller.abort(error)
        throw error
      }
    }
    this.#call = retryingCall({ call: watchedCall, clock, signal: this.signal })
    this.#callWhileStopping = retryingCall({ call: watchedCall, clock, signal: lost ?? new AbortController().signal })
    this.#batcher = new EventBatcher({ post: (items, key) => this.#post(items, key), clock })
  }

  /** Resolves when the events are committed. Deltas are shown but not stored. They are sent at most once per `limits.deltaIntervalMs`, unless an event that must be stored follows. */
  say(...events: readonly AgentEvent[]): Promise<void> {
    for (const event of events) this.openToolCalls.track(event)
    return this.#batcher.push(events)
  }

  /** Appends events like `say`, but never rejects. Use it for events that nobody awaits; `signal` reports when the session is over. */
  sayQuietly(...events: readonly AgentEvent[]): void {
    this.say(...events).catch(() => {})
  }

  flush(): Promise<void> {
    return this.#batcher.flush()
  }

  /** Checks a call against the rules and the watchers. */
  check({ key, tool, input, cwd, action, agentPath }: CheckedCall): Promise<Verdict> {
    const call = { key, tool, input, cwd, action, agentPath: [...agentPath] }
    return this.#call('checkTool', { id: this.info.id, ...call, fence: this.#fence })
  }

  /** Reports a moment, and returns what the watchers say about it. A moment that is reported again with the same key gets the same reply. */
  reportMoment(moment: ReportedMoment): Promise<MomentReply> {
    return this.#call('reportMoment', { id: this.info.id, ...moment, fence: this.#fence })
  }

  /** Reports the result of a call, and returns the texts of watchers that the agent must read with the result. */
  async reportResult({ key, agentPath, result, ...call }: FinishedCall): Promise<readonly string[]> {
    return (await this.reportMoment({ moment: 'after', key, agentPath: [...agentPath], result, call })).say
  }

  /** Sets a variable that a file with watchers declares as the agent's. */
  async setVariable(name: string, value: VariableValue): Promise<VariableValue> {
    return (await this.#call('setAgentVariable', { id: this.info.id, name, value, fence: this.#fence })).value
  }

  /** Returns the variables that the agent may set. A file that nobody has trusted must not choose words that the agent reads, so its variables are left out. */
  async ownVariables(): Promise<readonly Variable[]> {
    const { items } = await this.#call('listVariables', { id: this.info.id })
    return items.filter(({ setByAgent, source }) => setByAgent && source.trusted)
  }

  /** Opens the requests one after another. The log has all earlier events before them. If one of them cannot be opened, those opened before it are withdrawn. Does not wait for the answers. */
  async open(asks: readonly OpenAsk[]): Promise<readonly OpenRequest[]> {
    const inputs = asks.map(ask => this.#validated(ask))
    const opened: OpenRequest[] = []
    for (const input of inputs) {
      try {
        this.signal.throwIfAborted()
        const expected = expectRequest(this.info.id, input.key, input.ask)
        const request = await this.#batcher.call(events => this.#openRequest({ ...input, fence: this.#fence }, events))
        const [call, fence, crashPoint] = [this.#call, this.#fence, this.#crashPoint]
        opened.push(new OpenRequest({ call, fence, crashPoint, expected, request }))
      } catch (error) {
        for (const asked of opened) if (!this.signal.aborted) await asked.withdraw()
        throw error
      }
      this.#crashPoint('runner:asked')
    }
    return opened
  }

  /** Opens a request, and stores the events that come before it. The events must also be stored while the driver stops. */
  #openRequest(input: Input<'openRequest'>, events: StoredAgentEvent[]): Promise<Request> {
    if (events.length === 0) return this.#call('openRequest', input)
    return this.#callWhileStopping('openRequest', { ...input, events }, { idempotencyKey: crypto.randomUUID() })
  }

  #validated({ agentPath, ask, ...rest }: OpenAsk) {
    // Copy the ask, so that an agent that changes its object later cannot change what runs.
    const copy = jsonCopy(ask, 'The ask') as AskInput // `safeParse` checks the type
    const input = { ...rest, ask: copy, ...(agentPath ? { agentPath: [...agentPath] } : {}), id: this.info.id }
    const parsed = contract.openRequest.input.safeParse(input)
    if (!parsed.success) throw faultFromZod(parsed.error, 'The ask')
    return { ...parsed.data, ask: withFolder(parsed.data.ask, this.info.cwd) }
  }

  /** Opens a request, waits until it is resolved, and returns the answer after `handed` is committed. */
  async ask(ask: AskInput, { signal, ...options }: AskOptions): Promise<HandedAnswer> {
    signal?.throwIfAborted()
    const [asked] = await this.open([{ ask, ...options }])
    if (!asked) throw new Error('open() returned no request for one ask')
    let withdrawn: Promise<void> | undefined
    const withdraw = () => {
      withdrawn = asked.withdraw()
      // `await withdrawn` below rethrows the error.
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

  /** Yields people's commands in order. Ends when `signal` aborts. */
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
        yield this.#command(command, await this.#bodyOf(command))
      }
    }
  }

  /** Yields the events of the session's log, from the beginning or after a cursor. */
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

  /** Releases the session without ending it, so that an answer or a message can resume it. `unfinished` is a sentence for people that says what was lost and why. */
  park(unfinished?: string): Promise<void> {
    if (unfinished !== undefined && !this.#detached) {
      this.#unfinished = unfinished
      // Park the session even if `unfinished` cannot be reported.
      this.sayQuietly({ type: 'error.raised', code: 'unfinished', message: unfinished })
    }
    return this.#detach()
  }

  end(ending: Ending): Promise<void> {
    return this.#detach(ending)
  }

  /** True as soon as this driver has started to park or end the session. */
  get detached(): boolean {
    return this.#detached !== null
  }
  /** The sentence that was passed to `park`, or null if there was none. */
  get unfinished(): string | null {
    return this.#unfinished
  }

  #detach(ending?: Ending): Promise<void> {
    this.#detached ??= this.#release(ending)
    return this.#detached
  }

  async #release(ending: Ending | undefined): Promise<void> {
    // The callers of `say` have already received the error of a failed flush. Release the session anyway.
    await this.flush().catch(() => {})
    const input = { id: this.info.id, fence: this.#fence, ending }
    await this.#callWhileStopping('detachSession', input, { idempotencyKey: crypto.randomUUID() })
    this.#controller.abort(new Fault('session_ended', `This driver has released session ${this.info.id}`))
  }

  async #bodyOf({ body }: Command): Promise<SessionCommand['body']> {
    if (body.kind !== 'message') return body
    const attachments: AttachmentFile[] = []
    for (const attachment of body.attachments ?? []) {
      const { type, mediaType, name } = attachment
      const data = await downloadAttachment(this.#call, attachment)
      attachments.push({ type, mediaType, ...(name === undefined ? {} : { name }), data })
    }
    return { ...body, attachments }
  }

  #command(command: Command, body: SessionCommand['body']): SessionCommand {
    const { id } = command
    return {
      ...command,
      body,
      redelivered: command.state === 'taken',
      take: async () => {
        await this.#call('takeCommand', { id, fence: this.#fence })
      },
      done: async outcome => {
        await this.#call('finishCommand', { id, fence: this.#fence, outcome })
      },
    }
  }

  async #post(items: AgentEvent[], idempotencyKey: string | undefined): Promise<void> {
    const options = idempotencyKey === undefined ? undefined : { idempotencyKey }
    await this.#callWhileStopping('appendEvents', { id: this.info.id, items, fence: this.#fence }, options)
  }
}

const sessionEndingCodes: ReadonlySet<Fault['code']> = new Set(['fenced', 'session_ended'])

/** If a runner no longer holds the lease of a session, the gateway tells the runner that the session does not exist. */
export function endsSession({ code, detail }: Fault, session: SessionId): boolean {
  return sessionEndingCodes.has(code) || (code === 'not_found' && Object(detail).id === session)
}

function abortWith(controller: AbortController, signal: AbortSignal | undefined): void {
  if (!signal) return
  if (signal.aborted) controller.abort(signal.reason)
  const abort = () => controller.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  controller.signal.addEventListener('abort', () => signal.removeEventListener('abort', abort), { once: true })
}

/** The session of one MCP client. Opens a request for a call, finds it again if the client repeats the call, and waits for the answer. */
import { randomUUID } from 'node:crypto'
import { AgentSession, type HandedAnswer, type OpenRequest } from '@holdpoint/drivers'
import {
  type AskInput,
  type Call,
  type Clock,
  externalInfo,
  Fault,
  type Request,
  type Session,
  type SessionId,
  truncateTitle,
} from '@holdpoint/protocol'
import type { CallRecords } from './call-records.ts'
import { mcpTexts } from './texts.ts'

export interface ClientSessionOptions {
  /** Finds the gateway. Throws an error with a sentence for people if there is none. */
  readonly connect: () => Promise<Call>
  readonly records: CallRecords
  readonly title: string
  readonly cwd: string
  /** Whether only the client says that it works in this folder. */
  readonly isFolderClaimed: boolean
  readonly clock: Clock
  /** Returns whether the client is present, even if it makes no call at the moment. */
  readonly isPresent: () => boolean
}

/** A request that was opened for a call. */
export interface OpenedCall {
  readonly opened: OpenRequest
  readonly key: string
  readonly session: AgentSession
}

/** A call whose request was opened before, maybe by an earlier process. */
export interface StoredCall {
  readonly session: SessionId
  readonly key: string
  readonly ask: AskInput
}

/** An answer that the client has not received yet. */
export interface AnsweredCall {
  readonly handed: HandedAnswer
  readonly key: string
  readonly session: AgentSession
}

/** The signals of a client that waits for an answer. */
export interface WaitingClient {
  /** Aborts if the client no longer wants an answer. The request is withdrawn then. */
  readonly cancelled: AbortSignal
  /** Aborts if the client cannot receive an answer, but may ask again. The request stays pending. */
  readonly away: AbortSignal
  /** Resolves when the client can receive an answer. */
  whenReachable(): Promise<void>
}

/** Thrown if the client went away before the answer came. */
export class ClientAway extends Error {
  override readonly name = 'ClientAway'
}

/** This is a third of the time after which a silent agent counts as disconnected. */
const renewEveryMs = 10_000

export class ClientSession {
  readonly #options: ClientSessionOptions
  #session: Promise<AgentSession> | null = null
  #stopRenewing = () => {}
  #openCalls = 0

  constructor(options: ClientSessionOptions) {
    this.#options = options
  }

  /** Asks, and returns the answer after `handed` is committed. A repeated call gets the same request until the client has received the answer. */
  async ask(call: string, ask: AskInput, client: WaitingClient): Promise<AnsweredCall> {
    return this.#counted(async () => {
      for (;;) {
        const { opened, key, session } = await this.open(call, ask)
        const handed = await waitForAnswer(opened, client)
        if (handed) return { handed, key, session }
        // Another process has taken the only allow, so this call needs an answer of its own.
        this.#options.records.stopAsking(call, key)
      }
    })
  }

  /** Waits for the answer to a request that was opened before. Returns null if its session has ended, or if the answer is an allow that was handed before. */
  answer({ session: id, key, ask }: StoredCall, client: WaitingClient): Promise<AnsweredCall | null> {
    return this.#counted(async () => {
      const session = await this.connected()
      if (session.info.id !== id) return null
      try {
        const handed = await waitForAnswer(await openOne(session, ask, key), client)
        return handed && { handed, key, session }
      } catch (error) {
        if (isEnded(error)) return null
        throw error
      }
    })
  }

  async #counted<T>(wait: () => Promise<T>): Promise<T> {
    this.#openCalls++
    try {
      return await wait()
    } finally {
      this.#openCalls--
    }
  }

  /** Reports that the client has received the answer, or the result of the call that was allowed. */
  async delivered(call: string, { handed, key, session }: AnsweredCall): Promise<void> {
    this.#options.records.remove(call, key)
    await handed.taken()
    if (this.#openCalls === 0) session.sayQuietly({ type: 'turn.finished', ending: 'done' })
  }

  /** Returns the session, which is started if this client has none. */
  async connected(): Promise<AgentSession> {
    // Without this check, a call would wait for a gateway that nobody has started.
    const call = await this.#options.connect()
    if (this.#session === null || (await this.#session).signal.aborted) {
      this.#session = this.#start(call)
      this.#session.catch(() => {
        this.#session = null
      })
    }
    return this.#session
  }

  close(): void {
    this.#stopRenewing()
  }

  /** Opens the request of a call without waiting for its answer. A repeated call gets the same request until the client has received the answer. */
  async open(call: string, ask: AskInput): Promise<OpenedCall> {
    const { records } = this.#options
    for (;;) {
      const session = await this.connected()
      const record = records.find(call)
      if (record && record.state !== 'asking') throw new Fault('unsupported', mcpTexts.runsElsewhere)
      const key = record?.key ?? randomUUID()
      if (!record) records.put(call, { key, state: 'asking' })
      try {
        const opened = await openOne(session, ask, key)
        if (canBeAnswered(opened.request)) return { opened, key, session }
        records.stopAsking(call, key)
      } catch (error) {
        records.stopAsking(call, key)
        if (!isEnded(error) && !isKeyTaken(error)) throw error
      }
    }
  }

  /** Continues the session that an earlier process started for this client, unless a person has ended that session; otherwise starts a session. */
  async #start(call: Call): Promise<AgentSession> {
    const { records, clock, isPresent } = this.#options
    const stored = records.session()
    const known = stored && (await findSession(call, stored.session))
    const session = known ?? (await this.#startNew(call, stored ? stored.generation + 1 : 0))
    this.#stopRenewing()
    this.#stopRenewing = keepRenewing(call, session, clock, isPresent)
    return new AgentSession({ call, session, clock })
  }

  /** Processes that start a session at the same time get the same one, because they send the same key. */
  async #startNew(call: Call, generation: number): Promise<Session> {
    const { records, title, cwd, isFolderClaimed } = this.#options
    const input = {
      driver: externalInfo.name,
      cwd,
      title: truncateTitle(title),
      capabilities: [...clientCapabilities],
      // Rules of this folder can then deny and ask, but not allow.
      ...(isFolderClaimed && { options: { folderIsClaimed: true } }),
    }
    const session = await call('startSession', input, { idempotencyKey: `mcp-${records.name}-${generation}` })
    records.putSession({ session, generation })
    return session
  }
}

/** An MCP client can be given no messages and cannot be interrupted. */
const clientCapabilities = externalInfo.capabilities.filter(name => name !== 'messages' && name !== 'interrupt')

async function openOne(session: AgentSession, ask: AskInput, key: string): Promise<OpenRequest> {
  const [opened] = await session.open([{ ask, key }])
  if (!opened) throw new Error('one ask opens one request')
  return opened
}

/** Waits until the request is resolved and the client can receive the answer. Returns null if the answer is an allow that another process has taken. */
async function waitForAnswer(opened: OpenRequest, client: WaitingClient): Promise<HandedAnswer | null> {
  const { cancelled, away } = client
  let onCancelled = () => {}
  const unwanted = new Promise<void>(resolve => {
    onCancelled = resolve
  })
  const withdraw = () => {
    // If this fails, the session has ended, and `resolved` reports it.
    void opened
      .withdraw()
      // If the request cannot be withdrawn, its call is cancelled anyway: nobody waits for the answer anymore.
      .catch(() => {})
      .then(onCancelled)
  }
  let onAway = () => {}
  const left = new Promise<never>((_, reject) => {
    onAway = () => reject(new ClientAway())
  })
  left.catch(() => {})
  if (cancelled.aborted) withdraw()
  if (away.aborted) onAway()
  cancelled.addEventListener('abort', withdraw, { once: true })
  away.addEventListener('abort', onAway, { once: true })
  try {
    await Promise.race([opened.resolved(), left])
    // An allow can be handed only once, so it waits for a client that has lost its connection.
    await Promise.race([client.whenReachable(), unwanted, left])
    return await opened.hand()
  } catch (error) {
    if (error instanceof Fault && error.code === 'already_resolved') return null
    throw error
  } finally {
    cancelled.removeEventListener('abort', withdraw)
    away.removeEventListener('abort', onAway)
  }
}

/** Returns whether the answer to this request can still be given to the client. An allow is handed only once. */
function canBeAnswered({ status, resolution, delivery }: Request): boolean {
  if (status === 'pending') return true
  if (!resolution || resolution.by === 'agent') return false
  return delivery.state === 'waiting' || (delivery.state === 'handed' && resolution.answer?.kind !== 'allow')
}

function isEnded(error: unknown): boolean {
  return error instanceof Fault && (error.code === 'session_ended' || error.code === 'not_found')
}
/** The same call can lead to another ask, for example after an update of Holdpoint. */
function isKeyTaken(error: unknown): boolean {
  return error instanceof Fault && error.code === 'key_conflict'
}

async function findSession(call: Call, { id }: Session): Promise<Session | null> {
  try {
    const session = await call('getSession', { id })
    return session.state === 'ended' ? null : session
  } catch (error) {
    if (isEnded(error)) return null
    throw error
  }
}

/** Keeps the session connected while the client is present but makes no call. */
function keepRenewing(call: Call, { id }: Session, clock: Clock, isPresent: () => boolean): () => void {
  let cancel = () => {}
  const renew = () => {
    // The next call reports an error.
    if (isPresent()) void call('renewSession', { id }).catch(() => {})
    cancel = clock.after(renewEveryMs, renew, { background: true })
  }
  cancel = clock.after(renewEveryMs, renew, { background: true })
  return () => cancel()
}

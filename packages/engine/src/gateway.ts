/** The gateway as the server sees it: one function that runs every operation, and one that watches the log. */
import type { Delta, Event, Hello, Input, OperationName, Output, RequestId, Role, SessionId } from '@holdpoint/protocol'

/** Who calls, as established by a credential; never by what the caller says of itself. */
export interface Caller {
  readonly role: Role
  /** The person's name, or the credential's. */
  readonly name: string
  /** The credential's public id: idempotency keys and agents' sessions are scoped to it. */
  readonly token: string
  /** Where the answer came from: page, api, cli … kept on record. */
  readonly via: string
}

export interface DispatchOptions {
  readonly idempotencyKey?: string
  /** Ends a long poll; what has been committed stays committed. */
  readonly signal?: AbortSignal
}
export interface OperationResult<T> {
  readonly status: number
  readonly body: T
}

/** A frame ready to be sent to many: `json` is made once per frame, not once per watcher. */
export interface SerializedFrame {
  /** Set for events, whose frames can be resumed after. */
  readonly cursor: string | null
  readonly session: SessionId | null
  readonly json: string
}
export interface FrameListener {
  /** May be called before `watch` has resolved. Must not throw; must not wait. */
  frame(frame: SerializedFrame): void
}
export interface SubscribeOptions {
  readonly after?: string
  readonly session?: SessionId
}
export interface Subscription {
  readonly hello: Hello
  /** The events between the cursor that was given and `hello.cursor`, where they are to be resumed. Send hello, then these, then live frames. */
  readonly missed: readonly SerializedFrame[]
  stop(): void
}

export interface Gateway {
  /** Checks the role, parses the input, runs the operation. Rejects with a Fault; anything else is a bug. */
  dispatch<K extends OperationName>(
    caller: Caller | null,
    op: K,
    input: Input<K>,
    options?: DispatchOptions,
  ): Promise<OperationResult<Output<K>>>
  /** Same as dispatch for input that has not been typed (a request's path, query and body). */
  dispatchUnknown(
    caller: Caller | null,
    op: OperationName,
    input: unknown,
    options?: DispatchOptions,
  ): Promise<OperationResult<unknown>>
  /** Live frames begin right behind `hello.cursor`: nothing is lost between the snapshot and them. */
  subscribe(caller: Caller, options: SubscribeOptions, watcher: FrameListener): Promise<Subscription>
  /** Finds out who holds a secret: a bearer token, or a cookie. */
  authenticate(secret: string, kind: 'bearer' | 'cookie', via: string): Promise<Caller | null>
  /** Makes sure that this secret is a bearer token of that role: the owner's and the local runner's, at every start. */
  ensureToken(secret: string, role: Role, name: string): Promise<Caller>
  /** Turns a one-use code into a cookie secret. */
  redeemLink(code: string): Promise<{ readonly cookie: string; readonly caller: Caller }>
  close(): Promise<void>
}

/** Frames of the moment that have no cursor. */
export type EphemeralFrame =
  | { readonly frame: 'delta'; readonly delta: Delta & { readonly session: SessionId } }
  | { readonly frame: 'answering'; readonly request: RequestId; readonly person: string; readonly active: boolean }
export type EventFrame = { readonly frame: 'event'; readonly event: Event }

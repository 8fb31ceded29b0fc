/** The in-process gateway: its interface, and `openGateway`, which opens a gateway on a store. */
import {
  type Answering,
  type Call,
  type Clock,
  contract,
  type Delta,
  type Event,
  type ExtraAction,
  Fault,
  faultFromZod,
  type Hello,
  type Input,
  type OperationName,
  type Output,
  type ParsedInput,
  type ProofSubject,
  type Role,
  type RunnerId,
  type SessionId,
  systemClock,
  type TokenId,
} from '@holdpoint/protocol'
import { ProtectedFolder, type ProtectedFolderOptions } from '@holdpoint/rules'
import { accessFault, extraActions } from './authorization.ts'
import { type AgentMachine, Context, defaultSettings, type Settings } from './context.ts'
import { maskAgentInput, raiseAlarm } from './exposed-credentials.ts'
import { Feed } from './feed.ts'
import { FileTokens, type TokenFiles } from './file-tokens.ts'
import { type Operation, operations } from './operation-table.ts'
import { proveToken } from './operations/gateway-proof.ts'
import { extendLeases } from './operations/runners.ts'
import { authenticate, describeLink, ensureToken, redeemLink } from './operations/tokens.ts'
import { PendingRules } from './pending-rules.ts'
import { type RefusedAttempt, recordingRefusals } from './refused-attempts.ts'
import type { Store } from './store.ts'
import { StreamingBlocks } from './streaming-blocks.ts'
import { subscribe } from './subscribe.ts'
import { startSweeping } from './sweep.ts'

/** The caller of an operation. The gateway derives it from the credential, never from what the caller says about itself. */
export interface Caller {
  readonly role: Role
  /** The id of the person (`per_…`) or runner (`run_…`); for an agent, the id of its token. Two people may have the same name, so only ids decide who is who. */
  readonly id: string
  /** The name of the person or of the credential, for display only. */
  readonly name: string
  /** The public id of the credential. The sessions of external agents are scoped to it. */
  readonly token: string
  /** The client that made the call; stored with an answer in the audit log. */
  readonly via: Via
  /** The key of the credential's row. Every change checks that the credential is still valid. The field is absent only for code in the gateway's own process that has no credential. */
  readonly credential?: string
}

/** How a call reached the gateway, as the gateway itself observed it: from the page (with a sign-in cookie), from a command on the same machine (over the Unix socket of the data folder), or in any other way. */
export type Via = 'page' | 'cli' | 'api'

/** The proof of identity that a caller sends. Browsers send a cookie to every port of a host, so a cookie counts only together with the page secret, which the browser keeps for one origin. */
export type Credential =
  | { readonly kind: 'bearer'; readonly secret: string }
  | { readonly kind: 'cookie'; readonly secret: string; readonly pageSecret: string }
export interface SignIn {
  readonly cookie: string
  readonly pageSecret: string
  readonly caller: Caller
}

export interface DispatchOptions {
  readonly idempotencyKey?: string
  /** Aborts a long poll. An abort does not undo anything that is already committed. */
  readonly signal?: AbortSignal
  /** The size of the request as it was received. Calls without a size, such as those inside the process, do not count towards the limit of bytes per minute. */
  readonly bytes?: number
  /** The slot of this operation among those that run at the same time. A long poll gives the slot back while it waits. */
  readonly slot?: OperationSlot
}
/** Limits how many operations run at the same time. */
export interface OperationSlot {
  /** Resolves when it is the caller's turn. Rejects if the caller aborts first. */
  acquire(): Promise<void>
  release(): void
}
export interface OperationResult<T> {
  readonly status: number
  readonly body: T
}

/** A frame ready to be sent to many subscribers: `json` is serialized once per frame, not once per subscriber. */
export interface SerializedFrame {
  /** For events, the cursor after which a stream can be resumed; null for frames that are not stored. */
  readonly cursor: string | null
  readonly session: SessionId | null
  readonly json: string
}
export interface FrameListener {
  /** The gateway may call this method before `subscribe` has resolved. The method must neither throw nor block. */
  frame(frame: SerializedFrame): void
}
export interface SubscribeOptions {
  readonly after?: string
  readonly session?: SessionId
}
export interface Subscription {
  readonly hello: Hello
  /** The events after the given cursor up to `hello.cursor`; empty unless the subscription was resumed. Send `hello` first, then these events, then live frames. */
  readonly missed: readonly SerializedFrame[]
  stop(): void
}

export interface Gateway {
  /** Checks the caller's role, parses the input and runs the operation. Rejects with a Fault; any other error is a bug. */
  dispatch<K extends OperationName>(
    caller: Caller | null,
    op: K,
    input: Input<K>,
    options?: DispatchOptions,
  ): Promise<OperationResult<Output<K>>>
  /** Same as `dispatch`, for input that has not been parsed, such as the path, query and body of an HTTP request. */
  dispatchUnparsed(
    caller: Caller | null,
    op: OperationName,
    input: unknown,
    options?: DispatchOptions,
  ): Promise<OperationResult<unknown>>
  /** Opens a subscription. Its live frames begin right after `hello.cursor`, so no event is lost between the snapshot and the first live frame. */
  subscribe(caller: Caller, options: SubscribeOptions, listener: FrameListener): Promise<Subscription>
  /** Resolves with the caller, or null if the credential is not valid. */
  authenticate(credential: Credential, via: Via): Promise<Caller | null>
  /** Registers a bearer token unless the token already exists. Called at every start for the owner and the local runner: with the id of the data folder, the token also replaces the earlier token of that role and data folder, and a runner's token is for the runner with that id. */
  ensureToken(secret: string, role: Role, name: string, dataFolder?: RunnerId): Promise<Caller>
  /** Returns the caller of the token that the data folder holds now for this role. The token can be rotated while the gateway runs. Throws if `ensureToken` has registered none. */
  fileCaller(role: Role): Caller
  /** Calls the listener with the id of every token that expires or is revoked, even if another gateway with the same store revokes it. The listener is called before any later event is published. */
  onRevoked(listener: (token: TokenId) => void): void
  /** Records a refusal for which no caller is known, for example after too many wrong tokens. */
  recordRefusal(attempt: RefusedAttempt): Promise<void>
  /** Returns the person who would be signed in by the one-time code of a link, without using the code. */
  describeLink(code: string): Promise<Output<'describeLink'>>
  /** Exchanges the one-time code of a sign-in link for a cookie and a page secret. */
  redeemLink(code: string): Promise<SignIn>
  /** Returns the proof that this gateway knows the token with this hint. Rejects with a Fault if it does not. */
  proveToken(hint: string, subject: ProofSubject): Promise<string>
  close(): Promise<void>
}

/** Frames that are not stored and have no cursor. */
export type EphemeralFrame =
  | { readonly frame: 'delta'; readonly delta: Delta & { readonly session: SessionId } }
  | Answering
export type EventFrame = { readonly frame: 'event'; readonly event: Event }

export interface GatewayOptions {
  readonly store: Store
  readonly clock?: Clock
  readonly random?: (bytes: number) => Uint8Array
  readonly settings?: Partial<Settings>
  /** The data folder of this gateway. A built-in rule keeps agents out of it. */
  readonly dataFolder?: ProtectedFolderOptions
  /** The machine of this gateway. Without it, rules allow nothing that depends on files. */
  readonly machine?: AgentMachine
  /** Writes the token files of the data folder. Without it, the tokens in these files cannot be rotated. */
  readonly tokenFiles?: TokenFiles
  /** Called when a sweep fails. The next sweep runs as usual. */
  readonly onError?: (error: unknown) => void
}

export async function openGateway({
  store,
  clock = systemClock,
  random,
  settings,
  dataFolder,
  machine,
  tokenFiles,
  onError = () => {},
}: GatewayOptions): Promise<Gateway> {
  const head = await store.head()
  // Opening the store started a new epoch, but the cursor of the last event carries the epoch in which that event was written.
  const feed = new Feed(store, clock, { seq: head.seq, epoch: (await store.epochAt(head.seq)) ?? head.epoch })
  const streamingBlocks = new StreamingBlocks(clock, frame => feed.send(frame))
  const ctx = new Context({
    store,
    feed,
    streamingBlocks,
    clock,
    settings: { ...defaultSettings, ...settings },
    protectedFolder: dataFolder ? new ProtectedFolder(dataFolder) : null,
    machine: machine ?? null,
    fileTokens: new FileTokens(tokenFiles ?? null),
    ...(random ? { random } : {}),
  })
  await extendLeases(ctx)
  // No request is evaluated before the rules of the files are up to date.
  await ctx.ruleFiles?.start()
  const stopSweeping = startSweeping(ctx, onError)
  const pendingRules = new PendingRules(ctx, onError)
  pendingRules.apply()
  const dispatchUnparsed: Gateway['dispatchUnparsed'] = (caller, op, input, options = {}) =>
    recordingRefusals(ctx, caller, op, input, () => runOperation(ctx, caller, op, input, options))
  return {
    dispatchUnparsed,
    dispatch: dispatchUnparsed as Gateway['dispatch'], // each operation returns the output that the contract declares under its name
    subscribe: (caller, options, listener) =>
      recordingRefusals(ctx, caller, 'subscribe', options, () => subscribe(ctx, caller, options, listener)),
    recordRefusal: attempt => ctx.refusedAttempts.record(attempt),
    authenticate: (credential, via) => authenticate(ctx, credential, via),
    ensureToken: (secret, role, name, dataFolder) => ensureToken(ctx, secret, role, name, dataFolder ?? null),
    fileCaller: role => ctx.fileTokens.callerOf(role),
    onRevoked: listener =>
      feed.onEvent(({ body }) => {
        if (body.type === 'token.removed') listener(body.token)
      }),
    describeLink: code => describeLink(ctx, code),
    redeemLink: code => redeemLink(ctx, code),
    proveToken: (hint, subject) => proveToken(ctx, hint, subject),
    close: async () => {
      await stopSweeping()
      await pendingRules.close()
      ctx.close()
      feed.close()
    },
  }
}

async function runOperation(
  ctx: Context,
  caller: Caller | null,
  op: OperationName,
  input: unknown,
  options: DispatchOptions,
): Promise<OperationResult<unknown>> {
  const spec = Object.hasOwn(contract, op) ? contract[op] : undefined
  if (!spec) throw new Fault('not_found', `There is no operation ${op}`)
  requireAccess(caller, op)
  const parsed = spec.input.safeParse(input)
  if (!parsed.success) throw faultFromZod(parsed.error, op)
  const parsedInput = parsed.data as ParsedInput<OperationName> // the input was parsed with the schema of that operation
  for (const action of extraActions(op, parsedInput)) requireAccess(caller, action)
  if (caller && options.bytes !== undefined && spec.method !== 'GET')
    ctx.quotas.writtenBytes.take(caller, options.bytes)
  const run = operations[op] as Operation<OperationName> // `op` also selected the schema that parsed the input
  if (!caller) return run(ctx, anonymousCaller, parsedInput, options)
  ctx.tokenUse.note(caller)
  const { value: safeInput, found } = maskAgentInput(caller, op, parsedInput)
  if (found.size > 0) await raiseAlarm(ctx, caller, op, parsedInput, found, options)
  return run(ctx, caller, safeInput as ParsedInput<OperationName>, options) // masking does not change the type
}

/** The caller of operations that need no credential. None of those operations uses the role. */
const anonymousCaller: Caller = { role: 'agent', id: 'nobody', name: 'nobody', token: 'nobody', via: 'api' }

function requireAccess(caller: Caller | null, action: OperationName | ExtraAction): void {
  const fault = accessFault(caller, action)
  if (fault) throw fault
}

/** Wraps the gateway as a `Call` for code in the same process, with the same checks and operations but without HTTP. If `caller` is a function, a call whose token was rotated in the meantime is repeated with the new token. */
export function callAs(gateway: Gateway, caller: Caller | (() => Caller)): Call {
  const current = typeof caller === 'function' ? caller : () => caller
  return async (op, input, options) => {
    const used = current()
    try {
      return (await gateway.dispatch(used, op, input, options)).body
    } catch (error) {
      const isRefused = error instanceof Fault && error.code === 'unauthenticated'
      if (!isRefused || current().token === used.token) throw error
      return (await gateway.dispatch(current(), op, input, options)).body
    }
  }
}

/** Handles a request of any transport: authenticates the caller, finds the route, reads the input and runs the operation. */
import { type Caller, type CrashPoint, credentialNotValid, type Gateway } from '@holdpoint/engine'
import {
  apiRoot,
  contract,
  Fault,
  faultFromZod,
  limits,
  type OperationName,
  type ParsedInput,
  rolesFor,
  slotUnits,
} from '@holdpoint/protocol'
import { type Admission, nobody } from './admission.ts'
import {
  type AccessLevel,
  type Authenticator,
  createAuthenticator,
  refuseAttempt,
  requireCaller,
} from './authenticate.ts'
import {
  type ByteSink,
  type FlatHeaders,
  faultReply,
  type IncomingRequest,
  jsonReply,
  type Log,
  type OutgoingReply,
  toFault,
} from './http-message.ts'
import { largeBodyBytes, readIdempotencyKey, readInput } from './input.ts'
import { openapiText } from './openapi.ts'
import { createOperationDispatcher, type OperationDispatcher, slotUnitsOf } from './operation-dispatcher.ts'
import type { Revocations } from './revocations.ts'
import { findRoute, type Route, type Target } from './routes.ts'
import { formatSignInCookie } from './sign-in-cookie.ts'
import { readStreamOptions, sseSink, streamHeaders } from './sse-stream.ts'
import type { StaticFiles } from './static-files.ts'
import { createSubscriptionHub, type SubscriptionHub } from './subscriptions.ts'
import type { WrongAttempts } from './wrong-attempts.ts'

export interface RequestHandlerOptions {
  readonly gateway: Gateway
  readonly staticFiles: StaticFiles
  readonly port: number
  readonly version: string
  readonly log: Log
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  readonly crashPoint?: CrashPoint
  /** Shared by all handlers of a server. */
  readonly admission: Admission
  readonly wrongAttempts: WrongAttempts
  readonly revocations: Revocations
}

export class RequestHandler {
  readonly authenticate: Authenticator
  readonly operations: OperationDispatcher
  readonly subscriptions: SubscriptionHub
  readonly log: Log
  readonly admission: Admission
  readonly revocations: Revocations
  readonly #options: RequestHandlerOptions

  constructor(options: RequestHandlerOptions) {
    this.#options = options
    this.log = options.log
    this.admission = options.admission
    this.revocations = options.revocations
    this.authenticate = createAuthenticator(options)
    this.operations = createOperationDispatcher(options.gateway, options.crashPoint)
    this.subscriptions = createSubscriptionHub(options.gateway, options.revocations, options.log)
  }

  /** Resolves with the reply. Never rejects, because every error becomes a fault reply. */
  async handle(incoming: IncomingRequest): Promise<OutgoingReply> {
    try {
      return await this.#route(incoming)
    } catch (error) {
      return faultReply(toFault(error, this.log))
    }
  }

  /** Ends streams and long polls. Later requests get the fault `draining`. */
  close(): void {
    this.operations.drain()
    this.subscriptions.close()
  }

  async #route(incoming: IncomingRequest): Promise<OutgoingReply> {
    const queryAt = incoming.target.indexOf('?')
    const path = queryAt < 0 ? incoming.target : incoming.target.slice(0, queryAt)
    const query = queryAt < 0 ? '' : incoming.target.slice(queryAt + 1)
    if (!path.startsWith(`${apiRoot}/`)) return this.#handleOutsideApi(incoming, path)
    const route = findRoute(path.slice(apiRoot.length))
    const target = route?.targets.get(incoming.method)
    const caller = await this.authenticate(incoming, target ? accessFor(target) : 'public')
    if (!route)
      throw new Fault('not_found', 'There is no such operation. GET /api/v1/openapi.json lists all operations.')
    if (!target) return wrongMethod([...route.targets.keys()])
    if (!caller) return this.#handleTarget(incoming, null, target, route.params, query)
    this.#admitConnection(incoming, caller)
    return this.#untilRevoked(caller, this.#handleTarget(incoming, caller, target, route.params, query))
  }

  async #handleTarget(
    incoming: IncomingRequest,
    caller: Caller | null,
    target: Target,
    params: Route['params'],
    query: string,
  ): Promise<OutgoingReply> {
    switch (target) {
      case 'events':
        return this.#openStream(incoming, requireCaller(caller), query)
      case 'openapi':
        return { ...jsonReply(200, null), body: openapiText(this.#options.version) }
      case 'socket':
        throw new Fault('bad_input', 'This path is for WebSockets. Connect with an upgrade request.')
      default: {
        const takeBytes = (bytes: number) => incoming.onClose(this.admission.requestBytes.take(caller ?? nobody, bytes))
        const received = await readInput(incoming, target, params, query, takeBytes)
        return this.#runOperation(incoming, caller, target, received)
      }
    }
  }

  /** Resolves with the reply, or rejects as soon as the credential is revoked. Then the reply is sent and the connection closed, which also cancels the operation. */
  #untilRevoked(caller: Caller, reply: Promise<OutgoingReply>): Promise<OutgoingReply> {
    return new Promise((resolve, reject) => {
      const onRevoked = () => {
        // Wait for one turn of the event loop, so that an operation that revokes its own credential, such as a sign-out, can reply.
        setImmediate(() => reject(credentialNotValid()))
      }
      const stop = this.revocations.watch(caller.token, onRevoked)
      reply.finally(stop).then(resolve, reject)
    })
  }

  /** Counts the request for its credential until the reply is sent. */
  #admitConnection(incoming: IncomingRequest, caller: Caller): void {
    incoming.onClose(this.admission.connections.take(caller))
    incoming.protect()
  }

  async #handleOutsideApi(incoming: IncomingRequest, path: string): Promise<OutgoingReply> {
    if (path !== '/healthz') {
      await this.authenticate(incoming, path === '/api' || path.startsWith('/api/') ? 'public' : 'page')
      return this.#options.staticFiles(incoming, path)
    }
    await this.authenticate(incoming, 'public')
    const { version } = this.#options
    return incoming.method === 'GET' ? jsonReply(200, { ok: true, version }) : wrongMethod(['GET'])
  }

  async #runOperation(
    incoming: IncomingRequest,
    caller: Caller | null,
    op: OperationName,
    { input, bytes }: { readonly input: unknown; readonly bytes: number },
  ): Promise<OutgoingReply> {
    if (op === 'signIn') return this.#signIn(incoming, input)
    if (op === 'describeLink') return this.#describeLink(incoming, input)
    if (op === 'proveGateway' && incoming.localAddress !== null)
      return this.#proveGateway(incoming, incoming.localAddress, input)
    const idempotencyKey = readIdempotencyKey(incoming.header('idempotency-key'))
    const onDisconnect = (callback: () => void) => incoming.onClose(callback)
    const slot = this.admission.slots.slotFor(caller ?? nobody, slotUnitsOf(op), onDisconnect)
    onDisconnect(() => slot.release())
    const call = { op, input, idempotencyKey, bytes, slot, onDisconnect }
    const { status, body } = await this.operations.dispatch(caller, call)
    if (bytes > largeBodyBytes) await new Promise(resolve => setImmediate(resolve))
    return jsonReply(status, body, op === 'signOut' ? this.#cookieHeader(incoming, '', 0) : undefined)
  }

  async #signIn(incoming: IncomingRequest, input: unknown): Promise<OutgoingReply> {
    const { code } = parseInput('signIn', input)
    const redeemed = this.#options.gateway.redeemLink(code)
    const { cookie, pageSecret, caller } = await this.#countWrong(incoming, 'signIn', redeemed)
    this.#options.crashPoint?.('replying:signIn')
    const signedIn = { person: caller.name, personId: caller.id, role: caller.role, pageSecret }
    return jsonReply(200, signedIn, this.#cookieHeader(incoming, cookie, limits.signInTtlMs))
  }

  async #describeLink(incoming: IncomingRequest, input: unknown): Promise<OutgoingReply> {
    const { code } = parseInput('describeLink', input)
    const described = this.#options.gateway.describeLink(code)
    return jsonReply(200, await this.#countWrong(incoming, 'describeLink', described))
  }

  async #proveGateway(incoming: IncomingRequest, address: string, input: unknown): Promise<OutgoingReply> {
    const { hint, nonce } = parseInput('proveGateway', input)
    // The authenticator has checked that the Host header names this gateway.
    const host = incoming.header('host') ?? ''
    const proved = this.#options.gateway.proveToken(hint, { nonce, host, address })
    const proof = await this.#countWrong(incoming, 'proveGateway', proved)
    return jsonReply(200, { address, proof })
  }

  /** Counts a wrong code or hint like a wrong token, because somebody may be guessing. */
  async #countWrong<T>(incoming: IncomingRequest, what: GuessableOperation, result: Promise<T>): Promise<T> {
    const { gateway, wrongAttempts } = this.#options
    return result.catch(async (error: unknown) => {
      const isWrong = error instanceof Fault && error.code === 'unauthenticated'
      throw isWrong ? await refuseAttempt(gateway, wrongAttempts, incoming, what, error) : error
    })
  }

  #cookieHeader(incoming: IncomingRequest, secret: string, ttlMs: number): FlatHeaders {
    const secure = incoming.header('origin')?.startsWith('https:') ?? false
    return ['set-cookie', formatSignInCookie({ port: this.#options.port, secret, ttlMs, secure })]
  }

  async #openStream(incoming: IncomingRequest, caller: Caller, query: string): Promise<OutgoingReply> {
    const options = readStreamOptions(query, incoming.header('last-event-id'))
    const onClose = (callback: () => void) => incoming.onClose(callback)
    const slot = this.admission.slots.slotFor(caller, slotUnits.snapshot, onClose)
    onClose(() => slot.release())
    await slot.acquire()
    const subscription = await this.subscriptions.subscribe(caller, options)
    onClose(() => subscription.unsubscribe())
    const open = (sink: ByteSink) => subscription.open(sseSink(sink, options.after), () => slot.release())
    return { status: 200, headers: streamHeaders, body: open }
  }
}

/** The operations that need a secret instead of a credential. Somebody could guess such a secret. */
type GuessableOperation = 'signIn' | 'describeLink' | 'proveGateway'

function parseInput<K extends GuessableOperation>(op: K, input: unknown): ParsedInput<K> {
  const parsed = contract[op].input.safeParse(input)
  if (!parsed.success) throw faultFromZod(parsed.error, op)
  return parsed.data as ParsedInput<K> // the schema of this operation parsed the input
}

function accessFor(target: Target): AccessLevel {
  if (target === 'socket') return 'socket'
  if (target === 'events' || target === 'openapi') return 'read'
  if (rolesFor(target).includes('nobody')) return 'public'
  return contract[target].method === 'GET' ? 'read' : 'write'
}

function wrongMethod(allowed: readonly string[]): OutgoingReply {
  const fault = new Fault('wrong_method', `This path supports only ${allowed.join(', ')}.`)
  return faultReply(fault, ['allow', allowed.join(', ')])
}

/** The way from a request to its reply: gate, route, input, gateway. Every transport ends here. */
import type { CrashPoint, Gateway } from '@holdpoint/engine'
import { apiRoot, contract, Fault, faultFromZod, limits, type Operation, type OperationName } from '@holdpoint/protocol'
import {
  type AccessLevel,
  type Authenticated,
  type Authenticator,
  cookieName,
  createAuthenticator,
} from './authenticate.ts'
import {
  type FlatHeaders,
  faultReply,
  type IncomingRequest,
  jsonReply,
  type Log,
  type OutgoingReply,
  toFault,
} from './http-message.ts'
import { readIdempotencyKey, readInput } from './input.ts'
import { openapiText } from './openapi.ts'
import { createOperationRunner, type OperationRunner } from './operation-runner.ts'
import { findRoute, type Target } from './routes.ts'
import { readStreamOptions, sseSink, streamHeaders } from './sse-stream.ts'
import type { StaticFiles } from './static-files.ts'
import { createSubscriptionHub, type SubscriptionHub } from './subscriptions.ts'

export interface RequestHandlerOptions {
  readonly gateway: Gateway
  readonly pages: StaticFiles
  readonly port: number
  readonly version: string
  readonly log: Log
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  readonly crashPoint?: CrashPoint
}

export interface RequestHandler {
  readonly gate: Authenticator
  readonly work: OperationRunner
  readonly audience: SubscriptionHub
  readonly log: Log
  handle(incoming: IncomingRequest): Promise<OutgoingReply>
  /** Ends streams and long polls; what comes after gets `draining`. */
  close(): void
}

export function createRequestHandler(options: RequestHandlerOptions): RequestHandler {
  const { gateway, pages, port, version, log } = options
  const gate = createAuthenticator(options)
  const work = createOperationRunner(gateway, options.crashPoint)
  const audience = createSubscriptionHub(gateway, log)

  async function route(incoming: IncomingRequest): Promise<OutgoingReply> {
    const mark = incoming.target.indexOf('?')
    const path = mark < 0 ? incoming.target : incoming.target.slice(0, mark)
    const query = mark < 0 ? '' : incoming.target.slice(mark + 1)
    if (!path.startsWith(`${apiRoot}/`)) return outside(incoming, path)
    const found = findRoute(path.slice(apiRoot.length))
    const target = found?.targets.get(incoming.method)
    const admission = await gate(incoming, target ? needOf(target) : 'nothing')
    if (!found) throw new Fault('not_found', 'There is no such operation; GET /api/v1/openapi.json lists them.')
    if (!target) return wrongMethod([...found.targets.keys()])
    switch (target) {
      case 'events':
        return stream(incoming, admission, query)
      case 'openapi':
        return { ...jsonReply(200, null), body: openapiText(version) }
      case 'socket':
        throw new Fault('bad_input', 'This is a WebSocket: connect with an upgrade.')
      default:
        return operate(incoming, admission, target, await readInput(incoming, contract[target], found.params, query))
    }
  }

  async function outside(incoming: IncomingRequest, path: string): Promise<OutgoingReply> {
    if (path !== '/healthz') {
      await gate(incoming, path === '/api' || path.startsWith('/api/') ? 'nothing' : 'page')
      return pages(incoming, path)
    }
    await gate(incoming, 'nothing')
    return incoming.method === 'GET' ? jsonReply(200, { ok: true, version }) : wrongMethod(['GET'])
  }

  async function operate(incoming: IncomingRequest, { caller }: Authenticated, op: OperationName, input: unknown) {
    if (op === 'signIn') return signIn(incoming, input)
    const idempotencyKey = readIdempotencyKey(incoming.header('idempotency-key'))
    const onGone = (callback: () => void) => incoming.onGone(callback)
    const { status, body } = await work.run(caller, { op, input, idempotencyKey, onGone })
    return jsonReply(status, body, op === 'signOut' ? setCookie(incoming, '', 0) : undefined)
  }

  async function signIn(incoming: IncomingRequest, input: unknown): Promise<OutgoingReply> {
    const parsed = contract.signIn.input.safeParse(input)
    if (!parsed.success) throw faultFromZod(parsed.error, 'The sign-in')
    const { cookie, caller } = await gateway.redeemLink(parsed.data.code)
    options.crashPoint?.('replying:signIn')
    return jsonReply(200, { person: caller.name }, setCookie(incoming, cookie, limits.signInTtlMs))
  }

  function setCookie(incoming: IncomingRequest, secret: string, ttlMs: number): FlatHeaders {
    const secure = incoming.header('origin')?.startsWith('https:') ? '; Secure' : ''
    const age = `Max-Age=${Math.floor(ttlMs / 1000)}`
    return ['set-cookie', `${cookieName(port)}=${secret}; HttpOnly; SameSite=Strict; Path=/; ${age}${secure}`]
  }

  async function stream(
    incoming: IncomingRequest,
    { caller, renew }: Authenticated,
    query: string,
  ): Promise<OutgoingReply> {
    const watching = readStreamOptions(query, incoming.header('last-event-id'))
    const seat = await audience.seat(caller ?? (await renew()), watching, renew)
    incoming.onGone(() => seat.leave())
    return { status: 200, headers: streamHeaders, body: outlet => seat.open(sseSink(outlet, watching.after)) }
  }

  return {
    gate,
    work,
    audience,
    log,
    async handle(incoming) {
      try {
        return await route(incoming)
      } catch (error) {
        return faultReply(toFault(error, log))
      }
    },
    close() {
      work.drain()
      audience.close()
    },
  }
}

function needOf(target: Target): AccessLevel {
  if (target === 'socket') return 'socket'
  if (target === 'events' || target === 'openapi') return 'read'
  const op: Operation = contract[target]
  if (op.roles.includes('anyone')) return 'nothing'
  return op.method === 'GET' ? 'read' : 'write'
}

function wrongMethod(allowed: readonly string[]): OutgoingReply {
  const fault = new Fault('wrong_method', `This path takes ${allowed.join(', ')}.`)
  return faultReply(fault, ['allow', allowed.join(', ')])
}

/** The way from a request to its reply: gate, route, input, desk. Every transport ends here. */
import type { Desk, Probe } from '@holdpoint/engine'
import { apiRoot, contract, Fault, faultFromZod, limits, type Operation, type OperationName } from '@holdpoint/protocol'
import { type Audience, createAudience } from './audience.ts'
import { type FlatHeaders, faultOf, faultReply, type Incoming, jsonReply, type Log, type Outgoing } from './exchange.ts'
import { type Admission, cookieName, createGate, type Gate, type Need } from './gate.ts'
import { readIdempotencyKey, readInput } from './input.ts'
import { openapiText } from './openapi.ts'
import type { Pages } from './pages.ts'
import { findRoute, type Target } from './routes.ts'
import { readStreamOptions, streamHeaders, streamScreen } from './stream.ts'
import { createWork, type Work } from './work.ts'

export interface DoorOptions {
  readonly desk: Desk
  readonly pages: Pages
  readonly port: number
  readonly version: string
  readonly log: Log
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  readonly probe?: Probe
}

export interface Door {
  readonly gate: Gate
  readonly work: Work
  readonly audience: Audience
  readonly log: Log
  handle(incoming: Incoming): Promise<Outgoing>
  /** Ends streams and long polls; what comes after gets `draining`. */
  close(): void
}

export function createDoor(options: DoorOptions): Door {
  const { desk, pages, port, version, log } = options
  const gate = createGate(options)
  const work = createWork(desk, options.probe)
  const audience = createAudience(desk, log)

  async function route(incoming: Incoming): Promise<Outgoing> {
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

  async function outside(incoming: Incoming, path: string): Promise<Outgoing> {
    if (path !== '/healthz') {
      await gate(incoming, path === '/api' || path.startsWith('/api/') ? 'nothing' : 'page')
      return pages(incoming, path)
    }
    await gate(incoming, 'nothing')
    return incoming.method === 'GET' ? jsonReply(200, { ok: true, version }) : wrongMethod(['GET'])
  }

  async function operate(
    incoming: Incoming,
    { caller }: Admission,
    op: OperationName,
    input: unknown,
  ): Promise<Outgoing> {
    if (op === 'signIn') return signIn(incoming, input)
    const idempotencyKey = readIdempotencyKey(incoming.header('idempotency-key'))
    const { status, body } = await work.run(caller, {
      op,
      input,
      idempotencyKey,
      onGone: callback => incoming.onGone(callback),
    })
    return jsonReply(status, body, op === 'signOut' ? setCookie(incoming, '', 0) : undefined)
  }

  async function signIn(incoming: Incoming, input: unknown): Promise<Outgoing> {
    const parsed = contract.signIn.input.safeParse(input)
    if (!parsed.success) throw faultFromZod(parsed.error, 'The sign-in')
    const { cookie, caller } = await desk.redeem(parsed.data.code)
    options.probe?.('replying:signIn')
    return jsonReply(200, { person: caller.name }, setCookie(incoming, cookie, limits.signInTtlMs))
  }

  function setCookie(incoming: Incoming, secret: string, ttlMs: number): FlatHeaders {
    const secure = incoming.header('origin')?.startsWith('https:') ? '; Secure' : ''
    const age = `Max-Age=${Math.floor(ttlMs / 1000)}`
    return ['set-cookie', `${cookieName(port)}=${secret}; HttpOnly; SameSite=Strict; Path=/; ${age}${secure}`]
  }

  async function stream(incoming: Incoming, { caller, renew }: Admission, query: string): Promise<Outgoing> {
    const watching = readStreamOptions(query, incoming.header('last-event-id'))
    const seat = await audience.seat(caller ?? (await renew()), watching, renew)
    incoming.onGone(() => seat.leave())
    return { status: 200, headers: streamHeaders, body: outlet => seat.open(streamScreen(outlet, watching.after)) }
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
        return faultReply(faultOf(error, log))
      }
    },
    close() {
      work.drain()
      audience.close()
    },
  }
}

function needOf(target: Target): Need {
  if (target === 'socket') return 'socket'
  if (target === 'events' || target === 'openapi') return 'read'
  const op: Operation = contract[target]
  if (op.roles.includes('anyone')) return 'nothing'
  return op.method === 'GET' ? 'read' : 'write'
}

function wrongMethod(allowed: readonly string[]): Outgoing {
  const fault = new Fault('wrong_method', `This path takes ${allowed.join(', ')}.`)
  return faultReply(fault, ['allow', allowed.join(', ')])
}

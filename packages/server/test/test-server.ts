/** Starts a complete gateway for tests: memory store, real gateway, real server, one credential of each role. */
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Gateway, openGateway } from '@holdpoint/engine'
import { type Ask, apiRoot, formatId, type Request as HoldpointRequest, type Session } from '@holdpoint/protocol'
import { createServer, type Listening, type Server, type ServerOptions } from '@holdpoint/server'
import { openMemory } from '@holdpoint/store'
import { WebSocket } from 'ws'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void // the flag above defines this function in new contexts
/** Returns the bytes that are in use after a garbage collection. */
export function bytesInUse(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

export const secrets = { person: 'secret-of-ada', agent: 'secret-of-agent', runner: 'secret-of-runner' } as const

/** The id of the runner that `secrets.runner` belongs to. */
export const testRunnerId = formatId('run', new Uint8Array(20))

export interface TestServer extends Listening {
  readonly gateway: Gateway
  readonly server: Server
}

export async function startTestServer(
  options: Omit<ServerOptions, 'gateway'> = {},
  address: Partial<Parameters<Server['listen']>[0]> = {},
): Promise<TestServer> {
  // The runner of these tests does not renew its lease, and a busy machine may need minutes for a test.
  const gateway = await openGateway({ store: await openMemory(), settings: { runnerTtlMs: 600_000 } })
  await gateway.ensureToken(secrets.person, 'owner', 'ada')
  await gateway.ensureToken(secrets.agent, 'agent', 'robot')
  await gateway.ensureToken(secrets.runner, 'runner', 'test-runner', testRunnerId)
  const server = createServer({ gateway, version: '1.2.3', ...options })
  const listening = await server.listen({ port: 0, ...address })
  return {
    ...listening,
    gateway,
    server,
    async close() {
      await listening.close()
      await gateway.close()
    },
  }
}

export function authHeaders(role: keyof typeof secrets, more: Record<string, string> = {}): Record<string, string> {
  return { authorization: `Bearer ${secrets[role]}`, ...more }
}

export function request(gateway: TestServer, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.url}${apiRoot}${path}`, init)
}

export function post(gateway: TestServer, role: keyof typeof secrets, path: string, body: unknown): Promise<Response> {
  const headers = authHeaders(role, { 'content-type': 'application/json' })
  return request(gateway, path, { method: 'POST', headers, body: JSON.stringify(body) })
}

export const approval = (title: string, input: Record<string, string> = {}): Ask => ({
  kind: 'approval',
  tool: 'shell',
  input,
  title,
  cwd: '/tmp',
  editable: false,
})

export async function openSession(gateway: TestServer): Promise<Session> {
  const reply = await post(gateway, 'agent', '/sessions', { driver: 'external', title: 'a test' })
  if (reply.status !== 201) throw new Error(await reply.text())
  return (await reply.json()) as Session // the reply has the type that the contract declares
}

/** Starts a session that the test runner drives, and returns its id and fence. */
export async function attachRunner(gateway: TestServer): Promise<{ id: Session['id']; fence: number }> {
  const send = async (role: 'person' | 'runner', path: string, body: object) => {
    const reply = await post(gateway, role, path, body)
    if (!reply.ok) throw new Error(await reply.text())
    return reply.json()
  }
  const driver = { name: 'test', title: 'Test', capabilities: ['resumable'], modes: [], ready: true }
  const { incarnation } = await send('runner', '/runners', { id: testRunnerId, name: 'test', drivers: [driver] })
  const { id } = await send('person', '/sessions', { driver: 'test' })
  const { fence } = await send('runner', `/sessions/${id}/attach`, { runner: testRunnerId, incarnation })
  return { id, fence }
}

export async function ask(
  gateway: TestServer,
  session: Session,
  key: string,
  what = approval(key),
): Promise<HoldpointRequest> {
  const reply = await post(gateway, 'agent', `/sessions/${session.id}/requests`, { key, ask: what })
  if (reply.status !== 201) throw new Error(await reply.text())
  return (await reply.json()) as HoldpointRequest // the reply has the type that the contract declares
}

/** Sends the bytes unchanged and returns everything received until the server closes the connection. */
export function sendRaw(port: number, ...bytes: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', chunk => {
      received += chunk.toString('latin1')
    })
    socket.on('error', error => (received ? resolve(received) : reject(error)))
    socket.on('close', () => resolve(received))
    for (const part of bytes) socket.write(part)
  })
}

/** Returns the HTTP status of a WebSocket handshake: 101 if it is accepted. With `socketPath`, the handshake uses the Unix socket. */
export function handshake(
  gateway: TestServer,
  headers: Record<string, string>,
  path = `${apiRoot}/socket`,
  protocols: readonly string[] = [],
  socketPath?: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(`ws://127.0.0.1:${gateway.port}${path}`, [...protocols], {
      headers,
      ...(socketPath !== undefined && { createConnection: () => connect(socketPath) }),
    })
    ws.on('open', () => {
      ws.terminate()
      resolve(101)
    })
    ws.on('unexpected-response', (_, response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    ws.on('error', reject)
  })
}

export interface TestSocket {
  readonly ws: WebSocket
  send(frame: unknown): void
  /** Returns the next frame that matches and drops the frames before it. */
  next(matches?: (frame: SocketFrame) => boolean): Promise<SocketFrame>
  readonly closed: Promise<number>
}
export interface SocketFrame {
  readonly frame: string
  readonly id?: unknown
  readonly status?: number
  readonly body?: { readonly error?: { readonly code: string } } & Record<string, unknown>
  readonly hello?: { readonly cursor: string; readonly resume: string }
  readonly event?: Record<string, unknown> & { readonly cursor: string; readonly type: string }
}

export async function openSocket(gateway: TestServer, headers = authHeaders('person')): Promise<TestSocket> {
  const ws = new WebSocket(`ws://127.0.0.1:${gateway.port}${apiRoot}/socket`, { headers })
  const received: SocketFrame[] = []
  let wake = () => {}
  ws.on('message', data => {
    received.push(JSON.parse(String(data)))
    wake()
  })
  const closed = new Promise<number>(resolve => ws.on('close', resolve))
  await new Promise((resolve, reject) => ws.on('open', resolve).on('error', reject))
  return {
    ws,
    closed,
    send: frame => ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async next(matches = () => true) {
      for (;;) {
        for (let frame = received.shift(); frame; frame = received.shift()) if (matches(frame)) return frame
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
  }
}

export interface SseEvent {
  readonly id: string | null
  readonly data: string
}
/** Parses Server-Sent Events: splits at blank lines and skips comments. */
export async function* readSse(reply: Response): AsyncGenerator<SseEvent, void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of reply.body ?? []) {
    rest += decoder.decode(chunk, { stream: true })
    const parts = rest.split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const lines = part.split('\n').filter(line => !line.startsWith(':'))
      if (lines.length === 0) continue
      const field = (name: string) =>
        lines.filter(line => line.startsWith(`${name}: `)).map(line => line.slice(name.length + 2))
      yield { id: field('id')[0] ?? null, data: field('data').join('\n') }
    }
  }
}

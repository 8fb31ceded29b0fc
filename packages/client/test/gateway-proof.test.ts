/** Checks that a client sends its token only to a gateway that has proved that it knows the token. */
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, connect, createServer as createTcp, type Server } from 'node:net'
import { httpCall, type SocketConstructor, socketCall, Unreachable, watchEvents } from '@holdpoint/client'
import { apiRoot, type Call, proofText, tokenHintLength } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { secrets, startTestServer, type TestServer } from '../../server/test/test-server.ts'

let gateway: TestServer
beforeAll(async () => {
  gateway = await startTestServer()
})
afterAll(() => gateway.close())

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})
async function listenOn(server: Server, host = '127.0.0.1', port = 0): Promise<string> {
  server.listen(port, host)
  await once(server, 'listening')
  closers.push(() => server.close())
  const { port: bound } = server.address() as AddressInfo // a server that listens on TCP has an address of this type
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
}

const token = 'a-token-that-must-not-leak'
const WebSocketClass = WebSocket as unknown as SocketConstructor // the class of ws has the same methods, but its types differ
const hash = (text: string) => createHash('sha256').update(text).digest('hex')

/** A program that has taken over the port of a gateway. It records every byte that it receives. */
class Impostor {
  received = ''
  url = ''
  static async start(reply: (nonce: string, host: string) => [number, object] | null): Promise<Impostor> {
    const impostor = new Impostor()
    const answer: RequestListener = async (request, response) => {
      const body = await readBody(request)
      const { nonce = '' } = JSON.parse(body || '{}') as { nonce?: string }
      const [status, content] = reply(nonce, request.headers.host ?? '') ?? [404, {}]
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
    }
    const server = createServer(answer)
    server.on('upgrade', (_, socket) => socket.destroy())
    server.on('connection', socket => {
      socket.on('data', chunk => {
        impostor.received += chunk
      })
    })
    impostor.url = await listenOn(server)
    return impostor
  }
}
async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}

interface Client {
  readonly name: string
  /** Makes one call; rejects if the call fails. */
  readonly use: (url: string, secret: string) => Promise<unknown>
}
const clients: readonly Client[] = [
  { name: 'httpCall', use: (url, secret) => httpCall({ url, token: secret, attempts: 1 })('whoAmI', {}) },
  {
    name: 'watchEvents',
    use: async (url, secret) => {
      const abort = new AbortController()
      const statuses: string[] = []
      const onStatus = (status: string) => {
        statuses.push(status)
        if (status === 'reconnecting') abort.abort()
      }
      for await (const _ of watchEvents({ url, token: secret }, { signal: abort.signal, onStatus })) return
      throw new Error('no proof')
    },
  },
  {
    name: 'socketCall',
    use: async (url, secret) => {
      const abort = new AbortController()
      let reconnecting = () => {}
      const lost = new Promise<never>((_, reject) => {
        // A refused call rejects with its own error, right after this status.
        reconnecting = () => setImmediate(() => reject(new Error('no proof')))
      })
      lost.catch(() => {})
      const onStatus = (status: string) => status === 'reconnecting' && reconnecting()
      const socket = socketCall({ url, token: secret, WebSocket: WebSocketClass, onStatus })
      try {
        return await Promise.race([socket.call('whoAmI', {}, { signal: abort.signal }), lost])
      } finally {
        abort.abort()
        socket.close()
      }
    },
  },
]

describe.each(clients)('F1: $name', ({ use }) => {
  it('a client works with a gateway that knows the token, at each of its loopback addresses', async () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]']) await use(`http://${host}:${gateway.port}`, secrets.person)
  })

  it.each([
    ['knows nothing', () => null],
    ['says that the proof is an empty text', () => [200, { address: '127.0.0.1', proof: '' }]],
    ['proves that it knows another token', (nonce, host) => [200, claim('another token', nonce, host, '127.0.0.1')]],
    ['repeats a proof for another nonce', (_, host) => [200, claim(token, 'f'.repeat(32), host, '127.0.0.1')]],
    ['has a proof for another port', nonce => [200, claim(token, nonce, '127.0.0.1:1', '127.0.0.1')]],
    ['has a proof for another address', (nonce, host) => [200, claim(token, nonce, host, '::1')]],
    ['refuses the proof', () => [401, { error: { code: 'unauthenticated', message: 'no' } }]],
    ['redirects', () => [302, {}]],
  ] satisfies [string, Parameters<typeof Impostor.start>[0]][])(
    'a client sends no token to a program on the gateway’s port that %s',
    async (_, reply) => {
      const impostor = await Impostor.start(reply)
      await expect(use(impostor.url, token)).rejects.toThrow()
      expect(impostor.received).toMatch(/^POST \/api\/v1\/proof HTTP/)
      expect(impostor.received).not.toContain(token)
      expect(impostor.received).not.toContain(hash(token))
      expect(impostor.received).not.toMatch(/authorization/i)
    },
  )

  it('a client sends no token to a program that relays to the gateway from another port', async () => {
    const relay = await openRelay('127.0.0.1')
    await expect(use(relay.url, secrets.person)).rejects.toThrow()
    expect(relay.received()).not.toContain(secrets.person)
  })

  it('a client sends no token to a program that relays to the gateway from another loopback address of the same port', async () => {
    const relay = await openRelay('127.0.0.9', gateway.port)
    const hosts = { hosts: [`127.0.0.9:${gateway.port}`] }
    const accepting = await startTestServer(hosts)
    closers.push(() => accepting.close())
    relay.port = accepting.port
    await expect(use(relay.url, secrets.person)).rejects.toThrow()
    expect(relay.received()).toContain('/proof')
    expect(relay.received()).not.toContain(secrets.person)
  })

  it.each(['http://192.0.2.1:4747', 'http://holdpoint.example.com', 'http://0.0.0.0:4747'])(
    'a client refuses %s, because the token would be unencrypted',
    async url => {
      await expect(use(url, token)).rejects.toThrow(/https:\/\/.*ssh -L/)
    },
  )
})

/** Forwards bytes to a gateway and records what the client sends. */
async function openRelay(host: string, port = 0) {
  let bytes = ''
  const relay = { url: '', port: gateway.port, received: () => bytes }
  const server = createTcp(client => {
    const upstream = connect(relay.port, '127.0.0.1')
    client.on('data', chunk => {
      bytes += chunk
    })
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream])
      socket.on('error', () => {}).on('close', () => [client, upstream].map(end => end.destroy()))
  })
  relay.url = await listenOn(server, host, port)
  return relay
}

function claim(secret: string, nonce: string, host: string, address: string) {
  return {
    address,
    proof: createHmac('sha256', hash(secret)).update(proofText({ nonce, host, address })).digest('hex'),
  }
}

it('a gateway in a container proves itself with the address of the container', async () => {
  const impostor = await Impostor.start((nonce, host) => [200, claim(token, nonce, host, '172.17.0.2')])
  const call = httpCall({ url: impostor.url, token, attempts: 1 })
  await call('whoAmI', {}).catch(() => {})
  expect(impostor.received, 'the proof is right, so the token is sent').toContain(token)
})

it('a socket that was connected keeps trying while another program holds the port and refuses the proof', async () => {
  const first = await startTestServer()
  const statuses: string[] = []
  const socket = socketCall({
    url: first.url,
    token: secrets.agent,
    WebSocket: WebSocketClass,
    onStatus: status => statuses.push(status),
  })
  closers.push(() => socket.close())
  await socket.call('whoAmI', {})
  await first.close()
  let received = ''
  const impostor = createServer((_, response) => {
    response.writeHead(401).end(JSON.stringify({ error: { code: 'unauthenticated', message: 'no' } }))
  })
  impostor.on('connection', connection => {
    connection.on('data', chunk => {
      received += chunk
    })
  })
  await listenOn(impostor, '127.0.0.1', first.port)
  const waiting = socket.call('whoAmI', {})
  await expect.poll(() => received).toContain('/proof')
  impostor.closeAllConnections()
  await new Promise(resolve => impostor.close(resolve))
  const again = await startTestServer({}, { port: first.port })
  closers.push(() => again.close())
  expect(await waiting).toMatchObject({ role: 'agent' })
  expect(received).not.toContain(secrets.agent)
})

describe('proveGateway', () => {
  const prove = (target: TestServer['server'] | string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return typeof target === 'string'
      ? fetch(`${target}${apiRoot}/proof`, init)
      : target.fetch(new Request(`http://localhost${apiRoot}/proof`, init))
  }
  const nonce = '0'.repeat(32)
  const hintOf = (secret: string) => hash(secret).slice(0, tokenHintLength)

  it('proveGateway refuses unknown tokens, sign-in cookies and malformed input', async () => {
    expect((await prove(gateway.url, { hint: hintOf('unknown'), nonce })).status).toBe(401)
    for (const body of [{ hint: 'short', nonce }, { hint: hintOf(secrets.person), nonce: 'x' }, {}])
      expect((await prove(gateway.url, body)).status, JSON.stringify(body)).toBe(400)
  })
  it('proveGateway proves nothing for an expired or a revoked token', async () => {
    const owner: Call = httpCall({ url: gateway.url, token: secrets.person })
    const made = await owner('addToken', { role: 'agent', name: 'late' })
    expect((await prove(gateway.url, { hint: hintOf(made.secret), nonce })).status).toBe(200)
    await owner('removeToken', { id: made.id })
    expect((await prove(gateway.url, { hint: hintOf(made.secret), nonce })).status).toBe(401)
  })
  it('proveGateway is not available in process and over a WebSocket, which have no address', async () => {
    expect((await prove(gateway.server, { hint: hintOf(secrets.person), nonce })).status).toBe(422)
    const socket = socketCall({ url: gateway.url, token: secrets.person, WebSocket: WebSocketClass })
    closers.push(() => socket.close())
    const input = { hint: hintOf(secrets.person), nonce }
    await expect(socket.call('proveGateway', input)).rejects.toMatchObject({ code: 'unsupported' })
  })
})

it('the error of a failed call says what happened and what to do', async () => {
  const impostor = await Impostor.start(() => null)
  const advice = (reason: string) => `Check --url (${reason}).`
  const error = await httpCall({ url: impostor.url, token, advice })('whoAmI', {}).catch((each: unknown) => each)
  expect(error).toBeInstanceOf(Unreachable)
  expect(String(error)).toMatch(
    /could not prove that it is the gateway.*token was not sent\. Check --url \(no proof\)\.$/,
  )
})

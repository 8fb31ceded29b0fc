import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer as createTcp, type Socket } from 'node:net'
import {
  type ConnectionStatus,
  type Fetch,
  httpCall,
  inProcess,
  inProcessCall,
  socketCall,
  Unreachable,
  watchEvents,
} from '@holdpoint/client'
import {
  type Call,
  downloadAttachment,
  Fault,
  type Frame,
  limits,
  type OperationName,
  type Session,
  uploadAttachments,
} from '@holdpoint/protocol'
import { createServer, type Listening } from '@holdpoint/server'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { approval, secrets, startTestServer, type TestServer } from '../../server/test/test-server.ts'

let gateway: TestServer
beforeAll(async () => {
  gateway = await startTestServer()
})
afterAll(() => gateway.close())

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

interface Proxy {
  readonly url: string
  /** The port of the server that the proxy forwards to. */
  port: number
  /** The operation whose next reply is lost: the proxy cuts the connections once, after the gateway has executed the operation and before the reply arrives. */
  loseReplyOf: OperationName | null
  readonly executed: string[]
  cut(): void
}

/** A TCP proxy in front of a gateway. Tests can cut the connections of the proxy. */
async function openProxy(): Promise<Proxy> {
  const sockets = new Set<Socket>()
  const server = createTcp(client => {
    const upstream = connect(proxy.port, '127.0.0.1')
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket
        .on('error', () => socket.destroy())
        .on('close', () => [client, upstream].map(end => end.destroy() && sockets.delete(end)))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo // a server that listens on TCP has an address of this type
  const proxy: Proxy = {
    url: `http://127.0.0.1:${address.port}`,
    port: 0,
    loseReplyOf: null,
    executed: [],
    cut() {
      for (const socket of sockets) socket.destroy()
    },
  }
  closers.push(() => {
    proxy.cut()
    server.close()
  })
  await startServerBehind(proxy)
  return proxy
}

/** Starts a server for the same gateway, and lets the proxy forward to this server. */
async function startServerBehind(proxy: Proxy): Promise<Listening> {
  const server = createServer({
    gateway: gateway.gateway,
    hosts: [new URL(proxy.url).host],
    crashPoint(point) {
      proxy.executed.push(point)
      if (point !== `replying:${proxy.loseReplyOf}`) return
      proxy.loseReplyOf = null
      proxy.cut()
    },
  })
  const listening = await server.listen({ port: 0 })
  proxy.port = listening.port
  closers.push(() => listening.close())
  return listening
}

function openSocket(proxy: { url: string }, role: keyof typeof secrets, onStatus?: (status: ConnectionStatus) => void) {
  const socket = socketCall({ url: proxy.url, token: secrets[role], WebSocket, ...(onStatus && { onStatus }) })
  closers.push(() => socket.close())
  return socket
}

async function startSession(call: Call): Promise<Session> {
  return call('startSession', { driver: 'external' })
}

describe.each(['http', 'in process', 'socket'] as const)('a call over %s', transport => {
  function open(role: keyof typeof secrets): Call {
    const caller = { token: secrets[role] }
    if (transport === 'http') return httpCall({ url: gateway.url, ...caller })
    if (transport === 'in process') return inProcessCall(gateway.server.fetch, caller)
    const socket = socketCall({ url: gateway.url, WebSocket, ...caller })
    closers.push(() => socket.close())
    return socket.call
  }

  it('a call opens a request, lists it and answers it', async () => {
    const [agent, person] = [open('agent'), open('person')]
    const session = await startSession(agent)
    const asked = await agent('openRequest', { id: session.id, key: 'k', ask: approval('may I?') })
    const waiting = agent('getRequest', { id: asked.id, wait: limits.waitMaxMs })
    const pending = await person('listRequests', { status: 'pending', session: session.id, limit: 10 })
    expect(pending.items).toEqual([asked])
    const answered = await person('answerRequest', { id: asked.id, digest: asked.digest, answer: { kind: 'allow' } })
    expect(answered.resolution).toMatchObject({ person: 'ada', via: 'api' })
    expect((await waiting).status).toBe('resolved')
  })
  it('a call rejects with the fault of the gateway', async () => {
    const call = open('person')
    const wrong = call('getSession', { id: 'ses_00000000000000000000' as Session['id'] }) // the string has the format of a session id
    await expect(wrong).rejects.toMatchObject({ name: 'Fault', code: 'not_found' })
    await expect(wrong).rejects.toBeInstanceOf(Fault)
  })
  it('a call rejects when its signal aborts', async () => {
    const agent = open('agent')
    const session = await startSession(agent)
    const abort = new AbortController()
    const waiting = agent('listCommands', { id: session.id, wait: limits.waitMaxMs }, { signal: abort.signal })
    await agent('whoAmI', {})
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})

it('a call uses `keepalive` only if the body is small enough for browsers', async () => {
  const keepalives: (boolean | undefined)[] = []
  const recordingFetch: Fetch = (url, init) => {
    keepalives.push(init.keepalive)
    return fetch(url, init)
  }
  const call = httpCall({ url: gateway.url, token: secrets.person, fetch: recordingFetch, trusted: true })
  const session = await startSession(httpCall({ url: gateway.url, token: secrets.agent }))
  const agent = httpCall({ url: gateway.url, token: secrets.agent })
  const { id } = await agent('openRequest', { id: session.id, key: 'k', ask: approval('may I?') })
  for (const draft of ['few', 'many'.repeat(15_900)]) await call('putDraft', { id, draft }, { keepalive: true })
  await call('putDraft', { id, draft: 'few' })
  expect(keepalives).toEqual([true, false, false])
})

describe('calls while the gateway is unreachable for a moment', () => {
  const countSessions = async () =>
    (await httpCall({ url: gateway.url, token: secrets.person })('listSessions', { limit: 500 })).items.length

  it.each(['http', 'socket'] as const)(
    'an operation over %s is executed once if it is repeated because the first reply was lost',
    async transport => {
      const proxy = await openProxy()
      const call =
        transport === 'http' ? httpCall({ url: proxy.url, token: secrets.agent }) : openSocket(proxy, 'agent').call
      const before = await countSessions()
      proxy.loseReplyOf = 'startSession'
      await startSession(call)
      expect(proxy.executed.filter(point => point === 'replying:startSession')).toHaveLength(2)
      expect(await countSessions()).toBe(before + 1)
    },
  )
  it('pending calls and new calls succeed after the gateway has restarted on the same port', async () => {
    const first = await createServer({ gateway: gateway.gateway }).listen({ port: 0 })
    const call = httpCall({ url: first.url, token: secrets.agent })
    const socket = openSocket(first, 'agent')
    const session = await startSession(call)
    const waiting = [call, socket.call].map(each => each('listCommands', { id: session.id, wait: limits.waitMaxMs }))
    await Promise.all([call('whoAmI', {}), socket.call('whoAmI', {})])
    await first.close()
    const during = [call, socket.call].map(each =>
      each('openRequest', { id: session.id, key: 'during', ask: approval('x') }),
    )
    const again = await createServer({ gateway: gateway.gateway }).listen({ port: first.port })
    closers.push(() => again.close())
    const [one, other] = await Promise.all(during)
    expect(other?.id).toBe(one?.id)
    await httpCall({ url: again.url, token: secrets.person })('sendMessage', { id: session.id, text: 'hello' })
    for (const commands of await Promise.all(waiting))
      expect(commands.items).toMatchObject([{ body: { text: 'hello' } }])
  })
  it('a call over a socket is retried without limit, and a call over HTTP a limited number of times', async () => {
    const proxy = await openProxy()
    const { port } = proxy
    const statuses: ConnectionStatus[] = []
    proxy.port = 1
    const socket = openSocket(proxy, 'agent', status => statuses.push(status))
    const me = socket.call('whoAmI', {})
    await expect(httpCall({ url: proxy.url, token: secrets.agent, attempts: 3 })('whoAmI', {})).rejects.toBeInstanceOf(
      Unreachable,
    )
    proxy.port = port
    expect(await me).toMatchObject({ role: 'agent' })
    expect(statuses[0]).toBe('connecting')
    expect(statuses).toContain('reconnecting')
    expect(statuses.at(-1)).toBe('live')
  })
  it('a change without an idempotency key is not repeated', async () => {
    const proxy = await openProxy()
    const person = httpCall({ url: proxy.url, token: secrets.person })
    const session = await startSession(httpCall({ url: gateway.url, token: secrets.agent }))
    proxy.loseReplyOf = 'patchSession'
    await expect(person('patchSession', { id: session.id, title: 'new' })).rejects.toBeInstanceOf(Unreachable)
    expect(proxy.executed).toEqual(['replying:patchSession'])
  })
})

describe('a socket', () => {
  it('a socket sends a call that is too large for a frame over HTTP', async () => {
    const { call } = openSocket(gateway, 'agent')
    const session = await startSession(call)
    const text = 'ä'.repeat(limits.inboundFrameMaxBytes / 2)
    await call('appendEvents', { id: session.id, items: [{ type: 'message.added', block: 'b', text }] })
    const events = await call('listEvents', { id: session.id })
    const said = events.items.find(event => event.type === 'message.added')
    expect(said?.type === 'message.added' && said.text === text).toBe(true)
  })
  it('a socket resumes the event stream without a gap after a lost connection', async () => {
    const proxy = await openProxy()
    const socket = openSocket(proxy, 'person')
    const texts = await watchThroughCuts(proxy, options => socket.watch(options))
    expect(texts).toEqual(['0', '1', '2', '3', '4', '5'])
  })
  it('a socket rejects all calls and stops reconnecting if its token is revoked', async () => {
    const made = await httpCall({ url: gateway.url, token: secrets.person })('addToken', {
      role: 'agent',
      name: 'late',
    })
    await httpCall({ url: gateway.url, token: secrets.person })('removeToken', { id: made.id })
    const statuses: ConnectionStatus[] = []
    const socket = socketCall({
      url: gateway.url,
      token: made.secret,
      WebSocket,
      onStatus: each => statuses.push(each),
    })
    closers.push(() => socket.close())
    const [first, second] = [socket.call('whoAmI', {}), socket.call('listSessions', {})]
    await expect(first).rejects.toMatchObject({ name: 'Fault', code: 'unauthenticated' })
    await expect(second).rejects.toMatchObject({ code: 'unauthenticated' })
    expect(statuses).toEqual(['connecting', 'reconnecting'])
    await expect(socket.call('whoAmI', {})).rejects.toMatchObject({ code: 'unauthenticated' })
    const frames = socket.watch()[Symbol.asyncIterator]()
    await expect(frames.next()).rejects.toMatchObject({ code: 'unauthenticated' })
  })
  it.each(['http', 'socket'])('the largest attachment is sent over %s and read back in parts', async transport => {
    const { call: overSocket } = openSocket(gateway, 'person')
    const person = transport === 'http' ? httpCall({ url: gateway.url, token: secrets.person }) : overSocket
    const agent = openSocket(gateway, 'agent').call
    const { id } = await startSession(agent)
    const data = randomBytes(limits.attachmentMaxBytes).toString('base64')
    const small = { type: 'document', mediaType: 'text/plain', data: btoa('note'), name: 'note.txt' } as const
    const files = [{ type: 'image', mediaType: 'image/png', data } as const, small]
    await person('sendMessage', { id, text: '', attachments: await uploadAttachments(person, id, files) })
    const [command] = (await agent('listCommands', { id })).items
    const sent = command?.body.kind === 'message' ? (command.body.attachments ?? []) : []
    expect(sent.map(({ bytes, name }) => [bytes, name])).toEqual([
      [limits.attachmentMaxBytes, undefined],
      [4, 'note.txt'],
    ])
    expect(await Promise.all(sent.map(each => downloadAttachment(agent, each)))).toEqual([data, small.data])
  })
  it('a socket rejects pending and later calls when it is closed', async () => {
    const socket = openSocket(gateway, 'agent')
    const session = await startSession(socket.call)
    const waiting = socket.call('listCommands', { id: session.id, wait: limits.waitMaxMs })
    socket.close()
    await expect(waiting).rejects.toThrow('closed')
    await expect(socket.call('whoAmI', {})).rejects.toThrow('closed')
  })
})

describe('watchEvents', () => {
  it('watchEvents reconnects without a gap after a lost connection and reports its status', async () => {
    const proxy = await openProxy()
    const statuses: ConnectionStatus[] = []
    const texts = await watchThroughCuts(proxy, options =>
      watchEvents({ url: proxy.url, token: secrets.person }, { ...options, onStatus: status => statuses.push(status) }),
    )
    expect(texts).toEqual(['0', '1', '2', '3', '4', '5'])
    expect(statuses.slice(0, 4)).toEqual(['connecting', 'live', 'reconnecting', 'live'])
  })
  it('watchEvents loses no event if the connection breaks between the hello frame and the missed events', async () => {
    const agent = httpCall({ url: gateway.url, token: secrets.agent })
    const session = await startSession(agent)
    const whole = inProcess(gateway.server.fetch, { token: secrets.person })
    let connections = 0
    const fetch: Fetch = async (url, init) => {
      const reply = (await whole.fetch?.(url, init)) as Response // a connection from inProcess always has a fetch
      return ++connections <= 2 ? new Response(await firstEventOf(reply)) : reply
    }
    const received: string[] = []
    for await (const frame of watchEvents({ ...whole, fetch }, { session: session.id })) {
      if (frame.frame === 'hello' && connections === 1)
        for (const text of ['0', '1'])
          await agent('appendEvents', { id: session.id, items: [{ type: 'message.added', block: text, text }] })
      if (frame.frame === 'event' && frame.event.type === 'message.added') received.push(frame.event.text)
      if (received.length === 2) break
    }
    expect(received).toEqual(['0', '1'])
    expect(connections).toBe(3)
  })
  it('watchEvents rejects with the fault of the gateway if the token is unknown', async () => {
    const frames = watchEvents({ url: gateway.url, token: 'nonsense' })
    await expect(frames.next()).rejects.toMatchObject({ code: 'unauthenticated' })
  })
  it('watchEvents works with an in-process connection', async () => {
    const abort = new AbortController()
    const connection = inProcess(gateway.server.fetch, { token: secrets.person })
    for await (const frame of watchEvents(connection, { signal: abort.signal })) {
      expect(frame.frame).toBe('hello')
      abort.abort()
    }
  })
})

async function firstEventOf(reply: Response): Promise<string> {
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader() // the reply of a stream always has a body
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes('\n\n')) text += decoder.decode((await reader.read()).value, { stream: true })
  await reader.cancel()
  return text.slice(0, text.indexOf('\n\n') + 2)
}

/** Appends six messages, cuts the connections between the messages, and returns the received messages. */
async function watchThroughCuts(
  proxy: Proxy,
  watch: (options: { session: Session['id']; signal: AbortSignal }) => AsyncIterable<Frame>,
): Promise<string[]> {
  const agent = httpCall({ url: gateway.url, token: secrets.agent })
  const session = await startSession(agent)
  const say = (text: string) =>
    agent('appendEvents', { id: session.id, items: [{ type: 'message.added', block: text, text }] })
  const abort = new AbortController()
  const received: string[] = []
  for await (const frame of watch({ session: session.id, signal: abort.signal })) {
    if (frame.frame === 'hello' && received.length === 0) await say('0')
    if (frame.frame !== 'event' || frame.event.type !== 'message.added') continue
    received.push(frame.event.text)
    if (received.length === 6) abort.abort()
    else if (received.length % 2 === 1) {
      proxy.cut()
      await say(String(received.length))
      await say(String(received.length + 1))
    }
  }
  return received
}

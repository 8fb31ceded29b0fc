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
import { type Call, Fault, type Frame, limits, type OperationName, type Session } from '@holdpoint/protocol'
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

interface Line {
  readonly url: string
  /** Where it leads. */
  port: number
  /** The operation whose reply is lost, once: it has been carried out when the line is cut. */
  lose: OperationName | null
  readonly ran: string[]
  cut(): void
}

/** A gateway behind a line that a test can cut. */
async function openLine(): Promise<Line> {
  const ends = new Set<Socket>()
  const server = createTcp(near => {
    const far = connect(line.port, '127.0.0.1')
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) {
      ends.add(socket)
      socket
        .on('error', () => socket.destroy())
        .on('close', () => [near, far].map(end => end.destroy() && ends.delete(end)))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own = server.address() as AddressInfo // it listens on TCP
  const line: Line = {
    url: `http://127.0.0.1:${own.port}`,
    port: 0,
    lose: null,
    ran: [],
    cut() {
      for (const socket of ends) socket.destroy()
    },
  }
  closers.push(() => {
    line.cut()
    server.close()
  })
  await openBehind(line)
  return line
}

/** Starts a server of the same gateway at the far end of the line. */
async function openBehind(line: Line): Promise<Listening> {
  const server = createServer({
    gateway: gateway.gateway,
    hosts: [new URL(line.url).host],
    crashPoint(point) {
      line.ran.push(point)
      if (point !== `replying:${line.lose}`) return
      line.lose = null
      line.cut()
    },
  })
  const listening = await server.listen({ port: 0 })
  line.port = listening.port
  closers.push(() => listening.close())
  return listening
}

function openSocket(line: { url: string }, role: keyof typeof secrets, onStatus?: (status: ConnectionStatus) => void) {
  const socket = socketCall({ url: line.url, token: secrets[role], WebSocket, ...(onStatus && { onStatus }) })
  closers.push(() => socket.close())
  return socket
}

async function startSession(call: Call): Promise<Session> {
  return call('startSession', { driver: 'external' })
}

describe.each(['http', 'in process', 'socket'] as const)('a call over %s', transport => {
  function open(role: keyof typeof secrets): Call {
    const who = { token: secrets[role], via: 'test' }
    if (transport === 'http') return httpCall({ url: gateway.url, ...who })
    if (transport === 'in process') return inProcessCall(gateway.server.fetch, who)
    const socket = socketCall({ url: gateway.url, WebSocket, ...who })
    closers.push(() => socket.close())
    return socket.call
  }

  it('takes a request from ask to answer', async () => {
    const [agent, person] = [open('agent'), open('person')]
    const session = await startSession(agent)
    const asked = await agent('openRequest', { id: session.id, key: 'k', ask: approval('may I?') })
    const waiting = agent('getRequest', { id: asked.id, wait: limits.waitMaxMs })
    const pending = await person('listRequests', { status: 'pending', session: session.id, limit: 10 })
    expect(pending.items).toEqual([asked])
    const answered = await person('answerRequest', { id: asked.id, digest: asked.digest, answer: { kind: 'allow' } })
    expect(answered.resolution).toMatchObject({ person: 'ada', via: 'test' })
    expect((await waiting).status).toBe('resolved')
  })
  it('rejects with the Fault that the gateway gave', async () => {
    const call = open('person')
    const wrong = call('getSession', { id: 'ses_00000000000000000000' as Session['id'] }) // spelt as an id is
    await expect(wrong).rejects.toMatchObject({ name: 'Fault', code: 'not_found' })
    await expect(wrong).rejects.toBeInstanceOf(Fault)
  })
  it('ends when its signal does', async () => {
    const agent = open('agent')
    const session = await startSession(agent)
    const abort = new AbortController()
    const waiting = agent('listCommands', { id: session.id, wait: limits.waitMaxMs }, { signal: abort.signal })
    await agent('whoAmI', {})
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})

it('a call that is to outlive its page does so where it is small enough for browsers, and else is sent as any other', async () => {
  const kept: (boolean | undefined)[] = []
  const watched: Fetch = (url, init) => {
    kept.push(init.keepalive)
    return fetch(url, init)
  }
  const call = httpCall({ url: gateway.url, token: secrets.person, fetch: watched })
  const session = await startSession(httpCall({ url: gateway.url, token: secrets.agent }))
  const agent = httpCall({ url: gateway.url, token: secrets.agent })
  const { id } = await agent('openRequest', { id: session.id, key: 'k', ask: approval('may I?') })
  for (const words of ['few', 'many'.repeat(15_900)]) await call('putDraft', { id, draft: words }, { keepalive: true })
  await call('putDraft', { id, draft: 'few' })
  expect(kept).toEqual([true, false, false])
})

describe('a gateway that is away for a moment', () => {
  const countSessions = async () =>
    (await httpCall({ url: gateway.url, token: secrets.person })('listSessions', { limit: 500 })).items.length

  it.each(['http', 'socket'] as const)(
    'gets a lost operation again under its key, over %s: it happens once',
    async transport => {
      const line = await openLine()
      const call =
        transport === 'http' ? httpCall({ url: line.url, token: secrets.agent }) : openSocket(line, 'agent').call
      const before = await countSessions()
      line.lose = 'startSession'
      await startSession(call)
      expect(line.ran.filter(point => point === 'replying:startSession')).toHaveLength(2)
      expect(await countSessions()).toBe(before + 1)
    },
  )
  it('sees nothing of a restart on the same port', async () => {
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
  it('is waited for without end over a socket, and given up over HTTP', async () => {
    const line = await openLine()
    const nowhere = line.port
    const statuses: ConnectionStatus[] = []
    line.port = 1
    const socket = openSocket(line, 'agent', status => statuses.push(status))
    const me = socket.call('whoAmI', {})
    await expect(httpCall({ url: line.url, token: secrets.agent, attempts: 3 })('whoAmI', {})).rejects.toBeInstanceOf(
      Unreachable,
    )
    line.port = nowhere
    expect(await me).toMatchObject({ role: 'agent' })
    expect(statuses[0]).toBe('connecting')
    expect(statuses).toContain('reconnecting')
    expect(statuses.at(-1)).toBe('live')
  })
  it('does not repeat what has no key and changes something', async () => {
    const line = await openLine()
    const person = httpCall({ url: line.url, token: secrets.person })
    const session = await startSession(httpCall({ url: gateway.url, token: secrets.agent }))
    line.lose = 'patchSession'
    await expect(person('patchSession', { id: session.id, title: 'new' })).rejects.toBeInstanceOf(Unreachable)
    expect(line.ran).toEqual(['replying:patchSession'])
  })
})

describe('a socket', () => {
  it('sends what is too large for a frame over HTTP', async () => {
    const { call } = openSocket(gateway, 'agent')
    const session = await startSession(call)
    const text = 'ä'.repeat(limits.inboundFrameMaxBytes / 2)
    await call('appendEvents', { id: session.id, items: [{ type: 'message.added', block: 'b', text }] })
    const events = await call('listEvents', { id: session.id })
    const said = events.items.find(event => event.type === 'message.added')
    expect(said?.type === 'message.added' && said.text === text).toBe(true)
  })
  it('carries the stream across a cut without a gap', async () => {
    const line = await openLine()
    const socket = openSocket(line, 'person')
    const texts = await watchThroughCuts(line, options => socket.watch(options))
    expect(texts).toEqual(['0', '1', '2', '3', '4', '5'])
  })
  it('that is refused rejects what waits for it, and does not try for ever', async () => {
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
  it('brings large attachments of several sessions, over one connection', async () => {
    const statuses: ConnectionStatus[] = []
    const person = httpCall({ url: gateway.url, token: secrets.person })
    const { call } = openSocket(gateway, 'agent', status => statuses.push(status))
    const data = Buffer.alloc(4_900_000).toString('base64')
    const image = { type: 'image', mediaType: 'image/png', data } as const
    const sessions = await Promise.all([1, 2, 3, 4].map(() => startSession(call)))
    for (const { id } of sessions)
      for (const text of ['one', 'two']) await person('sendMessage', { id, text, attachments: [image, image] })
    const read = async ({ id }: Session) => {
      const [one] = (await call('listCommands', { id, wait: limits.waitMaxMs })).items
      const [two] = (await call('listCommands', { id, wait: limits.waitMaxMs, after: one?.seq })).items
      return [one, two].map(command => command?.body.kind === 'message' && command.body.text)
    }
    expect(await Promise.all(sessions.map(read))).toEqual(sessions.map(() => ['one', 'two']))
    expect(statuses).toEqual(['connecting', 'live'])
  })
  it('rejects what is under way when it is closed', async () => {
    const socket = openSocket(gateway, 'agent')
    const session = await startSession(socket.call)
    const waiting = socket.call('listCommands', { id: session.id, wait: limits.waitMaxMs })
    socket.close()
    await expect(waiting).rejects.toThrow('closed')
    await expect(socket.call('whoAmI', {})).rejects.toThrow('closed')
  })
})

describe('watching', () => {
  it('comes back by itself after a cut, without a gap, and says how it stands', async () => {
    const line = await openLine()
    const statuses: ConnectionStatus[] = []
    const texts = await watchThroughCuts(line, options =>
      watchEvents({ url: line.url, token: secrets.person }, { ...options, onStatus: status => statuses.push(status) }),
    )
    expect(texts).toEqual(['0', '1', '2', '3', '4', '5'])
    expect(statuses.slice(0, 4)).toEqual(['connecting', 'live', 'reconnecting', 'live'])
  })
  it('loses nothing when it is cut right behind hello, before what was missed', async () => {
    const agent = httpCall({ url: gateway.url, token: secrets.agent })
    const session = await startSession(agent)
    const whole = inProcess(gateway.server.fetch, { token: secrets.person })
    let connections = 0
    const fetch: Fetch = async (url, init) => {
      const reply = (await whole.fetch?.(url, init)) as Response // inProcess gives one
      return ++connections <= 2 ? new Response(await firstEventOf(reply)) : reply
    }
    const heard: string[] = []
    for await (const frame of watchEvents({ ...whole, fetch }, { session: session.id })) {
      if (frame.frame === 'hello' && connections === 1)
        for (const text of ['0', '1'])
          await agent('appendEvents', { id: session.id, items: [{ type: 'message.added', block: text, text }] })
      if (frame.frame === 'event' && frame.event.type === 'message.added') heard.push(frame.event.text)
      if (heard.length === 2) break
    }
    expect(heard).toEqual(['0', '1'])
    expect(connections).toBe(3)
  })
  it('ends with the fault when the credential is not known', async () => {
    const frames = watchEvents({ url: gateway.url, token: 'nonsense' })
    await expect(frames.next()).rejects.toMatchObject({ code: 'unauthenticated' })
  })
  it('works in process', async () => {
    const abort = new AbortController()
    const connection = inProcess(gateway.server.fetch, { token: secrets.person })
    for await (const frame of watchEvents(connection, { signal: abort.signal })) {
      expect(frame.frame).toBe('hello')
      abort.abort()
    }
  })
})

async function firstEventOf(reply: Response): Promise<string> {
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader() // a stream's reply has one
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes('\n\n')) text += decoder.decode((await reader.read()).value, { stream: true })
  await reader.cancel()
  return text.slice(0, text.indexOf('\n\n') + 2)
}

/** Says six things, cutting the line between any two; returns what was heard. */
async function watchThroughCuts(
  line: Line,
  watch: (options: { session: Session['id']; signal: AbortSignal }) => AsyncIterable<Frame>,
): Promise<string[]> {
  const agent = httpCall({ url: gateway.url, token: secrets.agent })
  const session = await startSession(agent)
  const say = (text: string) =>
    agent('appendEvents', { id: session.id, items: [{ type: 'message.added', block: text, text }] })
  const abort = new AbortController()
  const heard: string[] = []
  for await (const frame of watch({ session: session.id, signal: abort.signal })) {
    if (frame.frame === 'hello' && heard.length === 0) await say('0')
    if (frame.frame !== 'event' || frame.event.type !== 'message.added') continue
    heard.push(frame.event.text)
    if (heard.length === 6) abort.abort()
    else if (heard.length % 2 === 1) {
      line.cut()
      await say(String(heard.length))
      await say(String(heard.length + 1))
    }
  }
  return heard
}

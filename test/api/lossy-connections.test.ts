/** Tests several clients of one gateway with connections that are cut at random bytes, slow or half open. All clients must show the same in the end, and nothing may happen twice. */
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { httpCall, Inbox, socketCall, watchEvents } from '@holdpoint/client'
import type { Call, Frame, RequestId } from '@holdpoint/protocol'
import { limits } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { approval, secrets, startTestServer, type TestServer } from '../../packages/server/test/test-server.ts'
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

let proxy: TcpProxy
let gateway: TestServer
beforeAll(async () => {
  proxy = await openTcpProxy()
  gateway = await startTestServer({ hosts: [`127.0.0.1:${proxy.port}`] })
  proxy.forwardTo(gateway.port)
})
afterEach(() => {
  vi.useRealTimers()
  proxy.cutAfter(null)
  proxy.delay(0)
})
afterAll(async () => {
  await proxy.close()
  await gateway.close()
})

interface Client {
  readonly inbox: Inbox
  readonly call: Call
  /** The cursors of the events that arrived, in order. */
  readonly cursors: string[]
  close(): void
}
const connection = (token: string) => ({ url: `http://127.0.0.1:${proxy.port}`, token, trusted: true })

/** A client that calls and reads events over one socket, as the runner does. */
function socketClient(): Client {
  const socket = socketCall({ ...connection(secrets.person), WebSocket })
  return follow(
    socket.call,
    options => socket.watch(options),
    () => socket.close(),
  )
}
/** A client that uses HTTP and Server-Sent Events, as the page and the terminal do. */
function streamClient(): Client {
  const person = connection(secrets.person)
  return follow(
    httpCall(person),
    options => watchEvents(person, options),
    () => {},
  )
}
function follow(
  call: Call,
  watch: (options: { readonly signal?: AbortSignal }) => AsyncIterable<Frame>,
  close: () => void,
): Client {
  const inbox = new Inbox({ call, watch })
  const cursors: string[] = []
  inbox.onFrame(frame => {
    if (frame.frame === 'event') cursors.push(frame.event.cursor)
  })
  return {
    inbox,
    call,
    cursors,
    close: () => {
      inbox.close()
      close()
    },
  }
}

const pendingIn = ({ inbox }: Client) =>
  [...inbox.getSnapshot().requests.values()]
    .filter(({ status }) => status === 'pending')
    .map(({ id }) => id)
    .sort()

async function pendingOnGateway(): Promise<RequestId[]> {
  const direct = httpCall({ url: gateway.url, token: secrets.person })
  const ids: RequestId[] = []
  let after: RequestId | null | undefined
  // In many rounds, more requests are pending than fit on a page.
  do {
    const { items, next } = await direct('listRequests', { status: 'pending', ...(after && { after }) })
    ids.push(...items.map(({ id }) => id))
    after = next as RequestId | null // the cursor of this list is the id of its last request
  } while (after)
  return ids.sort()
}

describe('X14: two tabs, a phone and a terminal whose connections are cut at random bytes', () => {
  it('X14: two tabs, a phone and a terminal whose connections are cut at random bytes show the same state two seconds after the last cut, with every event once and in order', async () => {
    const clients = [streamClient(), streamClient(), socketClient(), socketClient()]
    const agent = httpCall(connection(secrets.agent))
    const { id } = await agent('startSession', { driver: 'external' })
    let keys = 0
    const open: { id: RequestId; digest: string }[] = []
    const act = async (kind: 'ask' | 'answer' | 'cut', client: Client) => {
      if (kind === 'cut') return proxy.cut()
      if (kind === 'ask') {
        keys++
        open.push(await agent('openRequest', { id, key: `k${keys}`, ask: approval(`k${keys}`) }))
        return
      }
      const request = open.pop()
      if (!request) return
      const answer = { id: request.id, digest: request.digest, answer: { kind: 'deny' } } as const
      await client.call('answerRequest', answer)
    }
    const steps = fc.array(
      fc.tuple(fc.constantFrom('ask', 'ask', 'answer', 'cut'), fc.nat(3), fc.integer({ min: 50, max: 4000 })),
      {
        minLength: 10,
        maxLength: 20,
      },
    )
    await fc.assert(
      fc.asyncProperty(steps, async chosen => {
        for (const [kind, nth, bytes] of chosen) {
          // The next two connections are cut, and later ones work.
          let cuts = 2
          proxy.cutAfter(() => (cuts-- > 0 ? bytes : Number.POSITIVE_INFINITY))
          await act(kind, clients[nth] as Client) // there are four clients
        }
        proxy.cutAfter(null)
        proxy.cut()
        const expected = await pendingOnGateway()
        const isSame = () => clients.every(client => isDeepStrictEqual(pendingIn(client), expected))
        // Each pause lets the gateway and the clients run, so 40 pauses are two seconds on an idle machine, and longer on a busy one.
        for (let pauses = 0; pauses < 40 && !isSame(); pauses++) await delay(50)
        expect(clients.map(pendingIn)).toEqual(clients.map(() => expected))
      }),
      { numRuns: Math.min(20, Number(process.env.HOLDPOINT_ROUNDS ?? '1')) * 3, endOnFailure: true },
    )
    for (const { cursors } of clients) {
      const seqs = cursors.map(cursor => Number(cursor.split('-')[1]))
      expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
    }
    for (const client of clients) client.close()
  }, 600_000)
})

describe('R4: a client behind a slow connection', () => {
  it('R4: a client behind a slow connection applies an answer once, although replies were lost and the call was repeated', async () => {
    proxy.delay(50)
    const client = streamClient()
    const agent = httpCall({ url: gateway.url, token: secrets.agent })
    const { id } = await agent('startSession', { driver: 'external' })
    const request = await agent('openRequest', { id, key: 'slow', ask: approval('slow') })
    // The first attempts are cut between the request and its reply, so the client cannot know whether they counted.
    const cuts = [700, 900, 1100]
    proxy.cutAfter(() => cuts.shift() ?? Number.POSITIVE_INFINITY)
    const answer = { id: request.id, digest: request.digest, answer: { kind: 'deny' } } as const
    expect(await client.call('answerRequest', answer)).toMatchObject({ status: 'resolved' })
    const { items } = await agent('listEvents', { id })
    expect(items.filter(({ type }) => type === 'request.resolved')).toHaveLength(1)
    client.close()
  })
})

describe('R4: a half-open connection', () => {
  it('R4: a half-open connection is replaced by the client after a few missing heartbeats, and no event is missing or doubled', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
    const client = streamClient()
    const agent = httpCall({ url: gateway.url, token: secrets.agent })
    await expect.poll(() => client.inbox.getSnapshot().status).toBe('live')
    proxy.freeze()
    const { id } = await agent('startSession', { driver: 'external' })
    const request = await agent('openRequest', { id, key: 'unseen', ask: approval('unseen') })
    await vi.advanceTimersByTimeAsync(limits.heartbeatMs)
    expect(pendingIn(client)).not.toContain(request.id)
    await vi.advanceTimersByTimeAsync(limits.streamSilenceMaxMs)
    await expect.poll(() => pendingIn(client)).toContain(request.id)
    expect(new Set(client.cursors).size).toBe(client.cursors.length)
    client.close()
  })
})

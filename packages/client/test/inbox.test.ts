import { blockKey, httpCall, Inbox, type InboxSnapshot, InboxState, watchEvents } from '@holdpoint/client'
import { type Caller, callAs, type Gateway, openGateway } from '@holdpoint/engine'
import { type Call, type Frame, limits, type Request, type Session } from '@holdpoint/protocol'
import { openMemory } from '@holdpoint/store'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { approval, secrets, startTestServer, type TestServer } from '../../server/test/test-server.ts'

const ada: Caller = { role: 'owner', id: 'per_ada', name: 'ada', token: 'tok-ada', via: 'api' }
const robot: Caller = { role: 'agent', id: 'tok-robot', name: 'robot', token: 'tok-robot', via: 'api' }

/** A random action of a person or an agent on the nth session or request. */
const step = fc.record({
  act: fc.constantFrom(
    'start',
    'ask',
    'ask',
    'ask',
    'allow',
    'deny',
    'withdraw',
    'hand',
    'take',
    'say',
    'end',
    'delete',
    'cut',
  ),
  nth: fc.nat(20),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

class Actors {
  readonly #agent: Call
  readonly #person: Call
  readonly sessions: Session[] = []
  readonly requests: Request[] = []
  #messages = 0

  constructor(gateway: Gateway) {
    this.#agent = callAs(gateway, robot)
    this.#person = callAs(gateway, ada)
  }

  /** Ignores faults, because the gateway may refuse a random action, such as a second answer to the same request. */
  async run({ act, nth }: Step): Promise<void> {
    const session = this.sessions[nth % Math.max(1, this.sessions.length)]
    const request = this.requests[nth % Math.max(1, this.requests.length)]
    if (act === 'start' || !session) this.sessions.push(await this.#agent('startSession', { driver: 'external' }))
    else if (act === 'ask') await this.#ask(session)
    else if (act === 'say')
      await this.#ignoreFaults(
        this.#agent('appendEvents', {
          id: session.id,
          items: [{ type: 'message.added', block: 'b', text: `${this.#messages++}` }],
        }),
      )
    else if (act === 'end') await this.#ignoreFaults(this.#person('endSession', { id: session.id }))
    else if (act === 'delete') await this.#ignoreFaults(this.#person('deleteSession', { id: session.id }))
    else if (request) await this.#changeRequest(act, request)
  }
  async #ask(session: Session): Promise<void> {
    const key = `k${this.requests.length}`
    const asked = await this.#ignoreFaults(this.#agent('openRequest', { id: session.id, key, ask: approval(key) }))
    if (asked) this.requests.push(asked)
  }
  #changeRequest(act: Step['act'], { id, digest }: Request): Promise<unknown> {
    if (act === 'allow' || act === 'deny')
      return this.#ignoreFaults(this.#person('answerRequest', { id, digest, answer: { kind: act } }))
    if (act === 'withdraw') return this.#ignoreFaults(this.#agent('withdrawRequest', { id }))
    return this.#ignoreFaults(this.#agent('reportDelivery', { id, state: act === 'take' ? 'taken' : 'handed' }))
  }
  #ignoreFaults<T>(done: Promise<T>): Promise<T | null> {
    return done.catch(() => null)
  }
}

/** An inbox state that subscribes to a gateway and can be disconnected and resumed. */
class Subscriber {
  readonly state = new InboxState(() => 0)
  readonly #gateway: Gateway
  #cursor: string | undefined
  #stop = () => {}

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }
  async connect(): Promise<void> {
    const buffered: Frame[] = []
    let onFrame: (frame: Frame) => void = frame => buffered.push(frame)
    const watch = await this.#gateway.subscribe(ada, this.#cursor === undefined ? {} : { after: this.#cursor }, {
      frame: ({ json }) => onFrame(JSON.parse(json)),
    })
    this.#stop = watch.stop
    this.#apply({ frame: 'hello', hello: watch.hello })
    for (const { json } of watch.missed) this.#apply(JSON.parse(json))
    for (const frame of buffered) this.#apply(frame)
    onFrame = frame => this.#apply(frame)
  }
  disconnect(): void {
    this.#stop()
  }
  #apply(frame: Frame): void {
    if (frame.frame === 'event') this.#cursor = frame.event.cursor
    if (frame.frame === 'hello' && frame.hello.resume === 'gap') this.#cursor = frame.hello.cursor
    this.state.apply(frame)
  }
}

const comparable = (state: InboxState) => {
  const { sessions, requests, order, pendingCount } = state.snapshot()
  return { sessions: new Map([...sessions].sort()), requests: new Map([...requests].sort()), order, pendingCount }
}
const pendingOnly = (snapshot: ReturnType<typeof comparable>) => ({
  ...snapshot,
  requests: new Map([...snapshot.requests].filter(([, request]) => request.status === 'pending')),
})

describe('the state of an inbox', () => {
  it('the state of an inbox is the same after any number of reconnects as in a new inbox', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async steps => {
        const gateway = await openGateway({ store: await openMemory() })
        const actors = new Actors(gateway)
        const [connected, interrupted, late] = [
          new Subscriber(gateway),
          new Subscriber(gateway),
          new Subscriber(gateway),
        ]
        await connected.connect()
        await interrupted.connect()
        let isConnected = true
        for (const each of steps) {
          if (each.act !== 'cut') await actors.run(each)
          else if (isConnected) interrupted.disconnect()
          else await interrupted.connect()
          if (each.act === 'cut') isConnected = !isConnected
        }
        if (!isConnected) await interrupted.connect()
        await late.connect()
        expect(comparable(interrupted.state)).toEqual(comparable(connected.state))
        expect(comparable(late.state)).toEqual(pendingOnly(comparable(connected.state)))
        await gateway.close()
      }),
      { numRuns: 60 },
    )
  })
  it('the state of an inbox keeps the resolution from a reply if the `request.opened` event arrives later', async () => {
    const gateway = await openGateway({ store: await openMemory() })
    const frames: Frame[] = []
    const { hello } = await gateway.subscribe(ada, {}, { frame: ({ json }) => frames.push(JSON.parse(json)) })
    const actors = new Actors(gateway)
    await actors.run({ act: 'start', nth: 0 })
    await actors.run({ act: 'ask', nth: 0 })
    const [asked] = actors.requests as [Request] // the test has opened exactly one request
    const state = new InboxState(() => 0)
    const answer = { id: asked.id, digest: asked.digest, answer: { kind: 'deny' } } as const
    for (const frame of [{ frame: 'hello', hello } as const, ...frames]) state.apply(frame)
    state.addReply(await callAs(gateway, ada)('answerRequest', answer))
    for (const frame of frames.filter(each => each.frame === 'event' && each.event.type === 'request.opened'))
      state.apply(frame)
    expect(state.snapshot()).toMatchObject({ pendingCount: 0, order: [] })
    await gateway.close()
  })
  it('the state of an inbox appends each delta once, and removes the streaming block when the finished block arrives', () => {
    const state = new InboxState(() => 0)
    const session = 'ses_00000000000000000000' as Session['id'] // the string has the format of a session id
    const delta = (offset: number, text: string): Frame => ({
      frame: 'delta',
      delta: { session, type: 'message.delta', block: 'b', offset, text },
    })
    for (const frame of [delta(0, 'Hel'), delta(3, 'lo'), delta(3, 'lo'), delta(0, 'Hel')]) state.apply(frame)
    expect(state.snapshot().blocks.get(blockKey(session, 'b'))?.text).toBe('Hello')
    state.apply(delta(9, '!'))
    expect(state.snapshot().blocks.get(blockKey(session, 'b'))).toMatchObject({ offset: 9, text: '!' })
    state.apply({
      frame: 'event',
      event: { cursor: 'a-1', at: 1, session, type: 'message.added', role: 'agent', block: 'b', text: 'Hello, all!' },
    })
    expect(state.snapshot().blocks.size).toBe(0)
  })
})

describe('an inbox', () => {
  let gateway: TestServer
  let agent: Call
  let person: Call
  let session: Session
  const open: Inbox[] = []
  beforeAll(async () => {
    gateway = await startTestServer()
    agent = httpCall({ url: gateway.url, token: secrets.agent })
    person = httpCall({ url: gateway.url, token: secrets.person })
    session = await agent('startSession', { driver: 'external' })
  })
  afterEach(() => {
    for (const inbox of open.splice(0)) inbox.close()
  })
  afterAll(() => gateway.close())

  function openInbox(): Inbox {
    const connection = { url: gateway.url, token: secrets.person }
    const inbox = new Inbox({ call: httpCall(connection), watch: options => watchEvents(connection, options) })
    open.push(inbox)
    return inbox
  }
  function until(inbox: Inbox, matches: (snapshot: InboxSnapshot) => boolean): Promise<InboxSnapshot> {
    return new Promise(resolve => {
      const check = () => {
        const snapshot = inbox.getSnapshot()
        if (!matches(snapshot)) return
        stop()
        resolve(snapshot)
      }
      const stop = inbox.subscribe(check)
      check()
    })
  }
  const ask = (key: string) => agent('openRequest', { id: session.id, key, ask: approval(key) })

  it('an inbox shows a new request and answers the request with its digest', async () => {
    const inbox = openInbox()
    const asked = await ask('one')
    const shown = await until(inbox, ({ order }) => order.includes(asked.id))
    expect(shown).toMatchObject({ status: 'live', complete: true, pendingCount: 1 })
    expect(shown.sessions.get(session.id)?.pending).toBe(1)
    expect(inbox.getSnapshot()).toBe(inbox.getSnapshot())
    const resolved = await inbox.answer(asked.id, { kind: 'allow' })
    expect(resolved.resolution?.via).toBe('api')
    await agent('reportDelivery', { id: asked.id, state: 'handed' })
    const after = await until(inbox, ({ requests }) => requests.get(asked.id)?.delivery.state === 'handed')
    expect(after).toMatchObject({ pendingCount: 0, order: [] })
    expect(after.sessions.get(session.id)?.pending).toBe(0)
  })
  it('an inbox shows the resolution of another person who answered first', async () => {
    const inbox = openInbox()
    const asked = await ask('contested')
    await until(inbox, ({ order }) => order.includes(asked.id))
    await person('answerRequest', { id: asked.id, digest: asked.digest, answer: { kind: 'deny', reason: 'no' } })
    await expect(inbox.answer(asked.id, { kind: 'allow' })).rejects.toMatchObject({ code: 'already_resolved' })
    expect(inbox.getSnapshot().requests.get(asked.id)?.resolution?.answer).toEqual({ kind: 'deny', reason: 'no' })
  })
  it('an inbox shows who is writing an answer', async () => {
    const inbox = openInbox()
    const asked = await ask('drafted')
    await until(inbox, ({ order }) => order.includes(asked.id))
    await person('putDraft', { id: asked.id, draft: { kind: 'deny' } })
    const shown = await until(inbox, ({ answering }) => answering.has(asked.id))
    expect(shown.answering.get(asked.id)).toEqual([{ id: expect.stringMatching(/^per_/), name: 'ada' }])
    await person('answerRequest', { id: asked.id, digest: asked.digest, answer: { kind: 'allow' } })
    await until(inbox, ({ answering }) => !answering.has(asked.id))
  })
  it('an inbox loads the requests that do not fit into the hello frame, and keeps a limited number of resolved requests', async () => {
    const count = limits.snapshotMax + 60
    const asked = await Promise.all(Array.from({ length: count }, (_, i) => ask(`many-${i}`)))
    const inbox = openInbox()
    const all = await until(inbox, ({ complete, status }) => complete && status === 'live')
    expect(all.pendingCount).toBe(count)
    expect([...all.order].sort()).toEqual(asked.map(request => request.id).sort())
    for (let i = 0; i < count; i += limits.batchAnswersMax)
      await person('answerRequests', {
        items: asked
          .slice(i, i + limits.batchAnswersMax)
          .map(({ id, digest }) => ({ id, digest, answer: { kind: 'deny' } })),
      })
    const none = await until(inbox, ({ pendingCount }) => pendingCount === 0)
    expect(none.requests.size).toBe(50)
  })
  it('an inbox loads large requests page by page', async () => {
    const text = 'x'.repeat(500_000)
    const count = Math.ceil(limits.snapshotMaxBytes / text.length + limits.pageMaxBytes / text.length) + 4
    const asked: Request[] = []
    for (let i = 0; i < count; i++)
      asked.push(await agent('openRequest', { id: session.id, key: `large-${i}`, ask: approval('large', { text }) }))
    const inbox = openInbox()
    const all = await until(inbox, ({ complete, status }) => complete && status === 'live')
    expect(all.order).toEqual(expect.arrayContaining(asked.map(request => request.id)))
    expect(all.pendingCount).toBe(count)
  })
  it('an inbox ends with the fault if its token is unknown', async () => {
    const connection = { url: gateway.url, token: 'nonsense' }
    const inbox = new Inbox({ call: httpCall(connection), watch: options => watchEvents(connection, options) })
    open.push(inbox)
    expect((await until(inbox, ({ ended }) => ended !== null)).ended).toMatchObject({ code: 'unauthenticated' })
  })
})

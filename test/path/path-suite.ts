/** Tests the path from ask to delivery; the same suite runs over every transport and kind of runner. */
import type { Answer, Event, Fault, Request, SessionId } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type EventRecorder, isEvent } from '../support/event-recorder.ts'
import type { PathSetup } from './transports.ts'

export function pathSuite(current: () => { setup: PathSetup; recorder: EventRecorder }): void {
  const call: PathSetup['call'] = (op, input, options) => current().setup.call(op, input, options)
  const seen: EventRecorder['waitFor'] = (fits: (event: Event) => boolean, from?: number) =>
    current().recorder.waitFor(fits, from)

  async function start(driver: 'player' | 'rehearsal', options: Record<string, string | number>, prompt = 'Start') {
    const session = await call('startSession', { driver, prompt, options: { paceMs: 0, ...options } })
    return session.id
  }
  const play = (scene: string, prompt?: string) => start('player', { scene }, prompt)
  /** Waits for the nth request that this session opens. */
  async function nthRequest(session: SessionId, n = 1): Promise<Request> {
    let count = 0
    const opened = (event: Event) => isEvent(session, 'request.opened')(event) && ++count === n
    const event = await seen(opened)
    if (event.type !== 'request.opened') throw new Error('unreachable: the filter only matches request.opened')
    return event.value
  }
  const answer = ({ id, digest }: Request, answer: Answer) => call('answerRequest', { id, digest, answer })
  /** Returns the agent's messages so far. */
  const messages = (session: SessionId) =>
    current()
      .recorder.eventsOf(session)
      .flatMap(event => (event.type === 'message.added' ? [event.text] : []))
  /** Waits until this many commands of the session are done; returns the agent's messages. */
  async function finished(session: SessionId, turns = 1): Promise<string[]> {
    let count = 0
    await seen(event => isEvent(session, 'command.done')(event) && ++count === turns)
    return messages(session)
  }
  const faultOf = (promise: Promise<unknown>): Promise<Fault> =>
    promise.then(
      () => Promise.reject(new Error('the call was not refused')),
      error => error,
    )

  describe('a turn', () => {
    it('a turn stores the text before a request, the request and the text after it completely and in order', async () => {
      const session = await play('turn')
      const request = await nthRequest(session)
      expect(messages(session), 'text is flushed before the request is opened').toEqual(['Before the ask.'])
      const { resolution } = await answer(request, { kind: 'allow', note: 'fine' })
      await finished(session)
      const { items } = await call('listEvents', { id: session })
      expect(items.map(summarize)).toEqual([
        'session.opened starting',
        'command.added message',
        'session.changed idle',
        'command.taken',
        'session.changed working',
        'message.added Before the ask.',
        'request.opened Go on?',
        'request.resolved person',
        'request.handed',
        'request.taken',
        'message.added Allowed: {"to":"here"} And more.',
        'turn.finished done',
        'session.changed idle',
        'command.done',
      ])
      expect(current().recorder.eventsOf(session).slice(0, items.length)).toEqual(items)
      const stored = await call('getRequest', { id: request.id })
      expect(stored).toMatchObject({ status: 'resolved', resolution, delivery: { state: 'taken' } })
      expect(await call('getSession', { id: session })).toMatchObject({
        state: 'idle',
        pending: 0,
        lastMessage: 'Allowed: {"to":"here"} And more.',
      })
    })

    it('a turn gives the agent the reason why a person denied', async () => {
      const session = await play('turn')
      await answer(await nthRequest(session), { kind: 'deny', reason: 'not on a Friday' })
      expect(await finished(session)).toEqual(['Before the ask.', 'Denied: not on a Friday And more.'])
    })

    it('a turn gives the agent the input that a person edited', async () => {
      const session = await play('turn')
      const answered = await answer(await nthRequest(session), { kind: 'allow', input: { to: 'there' } })
      expect(answered.resolution?.editedDigest).toMatch(/^[0-9a-f]{64}$/)
      expect(await finished(session)).toEqual(['Before the ask.', 'Allowed: {"to":"there"} And more.'])
    })

    it('a turn handles the next message after the previous message is done', async () => {
      const session = await play('echo', 'one')
      const first = await nthRequest(session)
      await call('sendMessage', { id: session, text: 'two' })
      await answer(first, { kind: 'allow' })
      await answer(await nthRequest(session, 2), { kind: 'allow' })
      expect(await finished(session, 2)).toEqual(['Echo: one', 'Echo: two'])
    })
  })

  describe('a request by the agent', () => {
    it('a request by the agent can contain several questions', async () => {
      const session = await start('rehearsal', { only: 'questions' })
      const request = await nthRequest(session)
      const answers = [
        { id: 'language', chosen: ['French'] },
        { id: 'checks', chosen: ['Tone'], other: 'Rhyme' },
      ]
      expect(await faultOf(answer(request, { kind: 'allow' }))).toMatchObject({ code: 'answer_mismatch' })
      await answer(request, { kind: 'answers', answers })
      expect((await finished(session)).at(-1)).toContain('- Language: French. Checks: Tone, “Rhyme”.')
    })

    it('a request by the agent can be a form', async () => {
      const session = await start('rehearsal', { only: 'form' })
      const request = await nthRequest(session)
      expect(await faultOf(answer(request, { kind: 'submit', values: { to: 'Ada' } }))).toMatchObject({
        code: 'answer_mismatch',
      })
      await answer(request, { kind: 'submit', values: { to: 'Ada', count: 2 } })
      expect((await finished(session)).at(-1)).toContain('- The form says to = "Ada", count = 2.')
    })

    it('a request by the agent can be answered before earlier pending requests of the agent', async () => {
      const session = await start('rehearsal', { only: 'parallel' })
      const [first, second] = [await nthRequest(session), await nthRequest(session, 2)]
      expect([first.agentPath, second.agentPath]).toEqual([['reviewer'], ['reviewer', 'linter']])
      await answer(second, { kind: 'deny' })
      expect(await call('getRequest', { id: first.id })).toMatchObject({ status: 'pending' })
      await answer(first, { kind: 'allow' })
      expect((await finished(session)).at(-1)).toContain(
        'The reviewer was allowed; its linter was not allowed (A person declined this.).',
      )
    })

    it('a request by the agent can be answered in a batch in which a failing item does not affect the others', async () => {
      const session = await play('many')
      const requests = [await nthRequest(session), await nthRequest(session, 2), await nthRequest(session, 3)] as const
      await answer(requests[1], { kind: 'deny', reason: 'not b' })
      const items = requests.map(({ id, digest }) => ({ id, digest, answer: { kind: 'allow' as const } }))
      const { items: results } = await call('answerRequests', { items })
      expect(results.map(({ status, error }) => [status, error?.code])).toEqual([
        [200, undefined],
        [409, 'already_resolved'],
        [200, undefined],
      ])
      expect(await finished(session)).toEqual(['yes, not b, yes'])
    })

    it('a request by the agent is reported to the agent as unanswered if the deadline passes', async () => {
      const session = await start('player', { scene: 'deadline', deadlineMs: 1000 })
      const request = await nthRequest(session)
      expect(await finished(session)).toEqual(['Nobody answered.', ' Not answered.'])
      const late = await faultOf(answer(request, { kind: 'allow' }))
      expect(late).toMatchObject({ code: 'already_resolved', detail: { request: { resolution: { by: 'deadline' } } } })
    })

    it('a request by the agent can be withdrawn by its agent, which resolves it immediately', async () => {
      const { id } = await call('startSession', { driver: 'external', title: 'an external agent' })
      const ask = { kind: 'approval' as const, tool: 't', input: {}, title: 'May I?', cwd: '/', editable: false }
      const request = await call('openRequest', { id, key: 'k', ask })
      const waiting = call('getRequest', { id: request.id, wait: 20_000 })
      await call('withdrawRequest', { id: request.id })
      expect((await waiting).resolution).toMatchObject({ by: 'agent', reason: 'withdrawn' })
      expect(await seen(isEvent(id, 'request.resolved'))).toMatchObject({ request: request.id })
      expect(await faultOf(answer(request, { kind: 'allow' }))).toMatchObject({ code: 'already_resolved' })
    })
  })

  describe('a person', () => {
    it('a person can interrupt a waiting agent, which resolves the request and makes the session idle', async () => {
      const session = await play('turn')
      const request = await nthRequest(session)
      await call('interruptSession', { id: session })
      expect(await call('getRequest', { id: request.id })).toMatchObject({
        resolution: { by: 'agent', reason: 'interrupted' },
      })
      expect(await finished(session, 2)).toEqual(['Before the ask.'])
      expect(await seen(isEvent(session, 'turn.finished'))).toMatchObject({ ending: 'interrupted' })
      expect(await call('getSession', { id: session })).toMatchObject({ state: 'idle', pending: 0 })
    })

    it('a person can end a waiting session, which resolves the request', async () => {
      const session = await play('turn')
      const request = await nthRequest(session)
      const ended = await call('endSession', { id: session })
      expect(ended).toMatchObject({ state: 'ended', pending: 0, ending: { reason: 'stopped' } })
      expect(await call('getRequest', { id: request.id })).toMatchObject({
        resolution: { by: 'agent', reason: 'session_ended' },
      })
      await finished(session, 2)
      expect(await faultOf(call('interruptSession', { id: session }))).toMatchObject({ code: 'session_ended' })
    })

    it('a person has the same draft on all devices, and other people see that someone is answering', async () => {
      const session = await play('turn')
      const request = await nthRequest(session)
      const { secret } = await call('addToken', { role: 'person', name: 'grace' })
      const grace = current().setup.callAs(secret)
      await call('putDraft', { id: request.id, draft: { reason: 'hm' } })
      expect(await call('getDraft', { id: request.id })).toMatchObject({
        draft: { draft: { reason: 'hm' } },
        others: [],
      })
      expect(await grace('getDraft', { id: request.id })).toEqual({
        draft: null,
        others: [{ id: expect.stringMatching(/^per_/), name: 'owner' }],
      })
      await grace('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
      expect(await call('getDraft', { id: request.id })).toEqual({ draft: null, others: [] })
      expect(await faultOf(call('putDraft', { id: request.id, draft: 1 }))).toMatchObject({ code: 'already_resolved' })
      await finished(session)
    })

    it('a person can repeat an answer or a message with the same key, and Holdpoint stores it once', async () => {
      const session = await play('echo', 'one')
      const { id, digest } = await nthRequest(session)
      const allow = { kind: 'allow' as const }
      const answerKey = { idempotencyKey: `answer ${session}`.replace(' ', '-') }
      const first = await call('answerRequest', { id, digest, answer: allow }, answerKey)
      await finished(session)
      expect(await call('answerRequest', { id, digest, answer: allow }, answerKey)).toEqual(first)
      const other = call('answerRequest', { id, digest, answer: { kind: 'deny' } }, answerKey)
      expect(await faultOf(other)).toMatchObject({ code: 'idempotency_mismatch' })
      const messageKey = { idempotencyKey: `message-${session}` }
      const command = await call('sendMessage', { id: session, text: 'two' }, messageKey)
      expect(await call('sendMessage', { id: session, text: 'two' }, messageKey)).toEqual(command)
      await answer(await nthRequest(session, 2), { kind: 'allow' })
      expect(await finished(session, 2)).toEqual(['Echo: one', 'Echo: two'])
    })

    it('a person can resume the event stream from a cursor without missing an event', async () => {
      const session = await play('echo', 'one')
      await answer(await nthRequest(session), { kind: 'allow' })
      await finished(session)
      const { items } = await call('listEvents', { id: session })
      const middle = items[4]
      if (!middle) throw new Error('expected more events')
      const stop = new AbortController()
      const received: Event[] = []
      for await (const frame of current().setup.watch({ after: middle.cursor, signal: stop.signal })) {
        if (frame.frame === 'hello') expect(frame.hello).toMatchObject({ resume: 'ok', sessions: [], requests: [] })
        if (frame.frame !== 'event' || frame.event.session !== session) continue
        received.push(frame.event)
        if (frame.event.cursor === items.at(-1)?.cursor) break
      }
      stop.abort()
      expect(received).toEqual(items.slice(5))
    })
  })
}

/** Summarizes an event in one line of text. */
function summarize(event: Event): string {
  switch (event.type) {
    case 'session.opened':
    case 'session.changed':
      return `${event.type} ${event.value.state}`
    case 'command.added':
      return `${event.type} ${event.value.body.kind}`
    case 'message.added':
      return `${event.type} ${event.text}`
    case 'request.opened':
      return `${event.type} ${event.value.ask.kind === 'approval' ? event.value.ask.title : event.value.ask.kind}`
    case 'request.resolved':
      return `${event.type} ${event.resolution.by}`
    case 'turn.finished':
      return `${event.type} ${event.ending}`
    default:
      return event.type
  }
}

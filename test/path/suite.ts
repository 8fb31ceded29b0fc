/** The path from ask to delivery, scene by scene: the same for every way in and every runner. */
import type { Answer, Event, Fault, Request, SessionId } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { told, type Witness } from '../support/event-recorder.ts'
import type { Place } from './transports.ts'

export function walkPath(here: () => { place: Place; witness: Witness }): void {
  const call: Place['call'] = (op, input, options) => here().place.call(op, input, options)
  const seen: Witness['seen'] = (fits: (event: Event) => boolean, from?: number) => here().witness.seen(fits, from)

  async function begin(driver: 'player' | 'rehearsal', options: Record<string, string | number>, prompt = 'Begin') {
    const session = await call('startSession', { driver, prompt, options: { paceMs: 0, ...options } })
    return session.id
  }
  const play = (scene: string, prompt?: string) => begin('player', { scene }, prompt)
  /** The n-th request that this session opens. */
  async function asked(session: SessionId, n = 1): Promise<Request> {
    let count = 0
    const opened = (event: Event) => told(session, 'request.opened')(event) && ++count === n
    const event = await seen(opened)
    if (event.type !== 'request.opened') throw new Error('it fits')
    return event.value
  }
  const say = ({ id, digest }: Request, answer: Answer) => call('answerRequest', { id, digest, answer })
  /** What the agent said in the turns that are over. */
  const words = (session: SessionId) =>
    here()
      .witness.of(session)
      .flatMap(event => (event.type === 'message.added' ? [event.text] : []))
  async function over(session: SessionId, turns = 1): Promise<string[]> {
    let count = 0
    await seen(event => told(session, 'command.done')(event) && ++count === turns)
    return words(session)
  }
  const faultOf = (promise: Promise<unknown>): Promise<Fault> =>
    promise.then(
      () => Promise.reject(new Error('it was not refused')),
      error => error,
    )

  describe('a turn', () => {
    it('keeps text, request and more text, all of it and in order', async () => {
      const session = await play('turn')
      const request = await asked(session)
      expect(words(session), 'text is flushed before the ask is shown').toEqual(['Before the ask.'])
      const { resolution } = await say(request, { kind: 'allow', note: 'fine' })
      await over(session)
      const { items } = await call('listEvents', { id: session })
      expect(items.map(line)).toEqual([
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
      expect(here().witness.of(session).slice(0, items.length)).toEqual(items)
      const kept = await call('getRequest', { id: request.id })
      expect(kept).toMatchObject({ status: 'resolved', resolution, delivery: { state: 'taken' } })
      expect(await call('getSession', { id: session })).toMatchObject({
        state: 'idle',
        pending: 0,
        lastMessage: 'Allowed: {"to":"here"} And more.',
      })
    })

    it('tells the agent why it was denied', async () => {
      const session = await play('turn')
      await say(await asked(session), { kind: 'deny', reason: 'not on a Friday' })
      expect(await over(session)).toEqual(['Before the ask.', 'Denied: not on a Friday And more.'])
    })

    it('gives the agent the input that a person edited', async () => {
      const session = await play('turn')
      const answered = await say(await asked(session), { kind: 'allow', input: { to: 'there' } })
      expect(answered.resolution?.editedDigest).toMatch(/^[0-9a-f]{64}$/)
      expect(await over(session)).toEqual(['Before the ask.', 'Allowed: {"to":"there"} And more.'])
    })

    it('waits for the next message until the one before it is carried out', async () => {
      const session = await play('echo', 'one')
      const first = await asked(session)
      await call('sendMessage', { id: session, text: 'two' })
      await say(first, { kind: 'allow' })
      await say(await asked(session, 2), { kind: 'allow' })
      expect(await over(session, 2)).toEqual(['Echo: one', 'Echo: two'])
    })
  })

  describe('an ask', () => {
    it('may be questions', async () => {
      const session = await begin('rehearsal', { only: 'questions' })
      const request = await asked(session)
      const answers = [
        { id: 'language', chosen: ['French'] },
        { id: 'checks', chosen: ['Tone'], other: 'Rhyme' },
      ]
      expect(await faultOf(say(request, { kind: 'allow' }))).toMatchObject({ code: 'answer_mismatch' })
      await say(request, { kind: 'answers', answers })
      expect((await over(session)).at(-1)).toContain('- The language: French. The checks: Tone, “Rhyme”.')
    })

    it('may be a form', async () => {
      const session = await begin('rehearsal', { only: 'form' })
      const request = await asked(session)
      expect(await faultOf(say(request, { kind: 'submit', values: { to: 'Ada' } }))).toMatchObject({
        code: 'answer_mismatch',
      })
      await say(request, { kind: 'submit', values: { to: 'Ada', count: 2 } })
      expect((await over(session)).at(-1)).toContain('- The form says to = "Ada", count = 2.')
    })

    it('may be several at once, answered in reverse', async () => {
      const session = await begin('rehearsal', { only: 'parallel' })
      const [first, second] = [await asked(session), await asked(session, 2)]
      expect([first.agentPath, second.agentPath]).toEqual([['reviewer'], ['reviewer', 'linter']])
      await say(second, { kind: 'deny' })
      expect(await call('getRequest', { id: first.id })).toMatchObject({ status: 'pending' })
      await say(first, { kind: 'allow' })
      expect((await over(session)).at(-1)).toContain(
        'The reviewer was allowed; its linter was not allowed (A person declined this.).',
      )
    })

    it('is answered in a batch, where one that fails fails no other', async () => {
      const session = await play('many')
      const requests = [await asked(session), await asked(session, 2), await asked(session, 3)] as const
      await say(requests[1], { kind: 'deny', reason: 'not b' })
      const items = requests.map(({ id, digest }) => ({ id, digest, answer: { kind: 'allow' as const } }))
      const { items: results } = await call('answerRequests', { items })
      expect(results.map(({ status, error }) => [status, error?.code])).toEqual([
        [200, undefined],
        [409, 'already_resolved'],
        [200, undefined],
      ])
      expect(await over(session)).toEqual(['yes, not b, yes'])
    })

    it('that nobody answers is told as that', async () => {
      const session = await begin('player', { scene: 'deadline', deadlineMs: 1000 })
      const request = await asked(session)
      expect(await over(session)).toEqual(['Nobody answered.', ' Not answered.'])
      const late = await faultOf(say(request, { kind: 'allow' }))
      expect(late).toMatchObject({ code: 'already_resolved', detail: { request: { resolution: { by: 'deadline' } } } })
    })

    it('is withdrawn by its agent, at once and everywhere', async () => {
      const { id } = await call('startSession', { driver: 'external', title: 'elsewhere' })
      const ask = { kind: 'approval' as const, tool: 't', input: {}, title: 'May I?', cwd: '/', editable: false }
      const request = await call('openRequest', { id, key: 'k', ask })
      const waiting = call('getRequest', { id: request.id, wait: 20_000 })
      await call('withdrawRequest', { id: request.id })
      expect((await waiting).resolution).toMatchObject({ by: 'agent', reason: 'withdrawn' })
      expect(await seen(told(id, 'request.resolved'))).toMatchObject({ request: request.id })
      expect(await faultOf(say(request, { kind: 'allow' }))).toMatchObject({ code: 'already_resolved' })
    })
  })

  describe('a person', () => {
    it('interrupts what waits: the request is resolved and the agent goes idle', async () => {
      const session = await play('turn')
      const request = await asked(session)
      await call('interruptSession', { id: session })
      expect(await call('getRequest', { id: request.id })).toMatchObject({
        resolution: { by: 'agent', reason: 'interrupted' },
      })
      expect(await over(session, 2)).toEqual(['Before the ask.'])
      expect(await seen(told(session, 'turn.finished'))).toMatchObject({ ending: 'interrupted' })
      expect(await call('getSession', { id: session })).toMatchObject({ state: 'idle', pending: 0 })
    })

    it('ends what waits: the request is resolved and the session is over', async () => {
      const session = await play('turn')
      const request = await asked(session)
      const ended = await call('endSession', { id: session })
      expect(ended).toMatchObject({ state: 'ended', pending: 0, ending: { reason: 'stopped' } })
      expect(await call('getRequest', { id: request.id })).toMatchObject({
        resolution: { by: 'agent', reason: 'session_ended' },
      })
      await over(session, 2)
      expect(await faultOf(call('interruptSession', { id: session }))).toMatchObject({ code: 'session_ended' })
    })

    it('keeps a draft on all devices, and others see that someone is answering', async () => {
      const session = await play('turn')
      const request = await asked(session)
      const { secret } = await call('addToken', { role: 'person', name: 'grace' })
      const grace = here().place.callAs(secret)
      await call('putDraft', { id: request.id, draft: { reason: 'hm' } })
      expect(await call('getDraft', { id: request.id })).toMatchObject({
        draft: { draft: { reason: 'hm' } },
        others: [],
      })
      expect(await grace('getDraft', { id: request.id })).toEqual({ draft: null, others: ['owner'] })
      await grace('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
      expect(await call('getDraft', { id: request.id })).toEqual({ draft: null, others: [] })
      expect(await faultOf(call('putDraft', { id: request.id, draft: 1 }))).toMatchObject({ code: 'already_resolved' })
      await over(session)
    })

    it('says a thing once, however often it is sent under one key', async () => {
      const session = await play('echo', 'one')
      const { id, digest } = await asked(session)
      const answer = { kind: 'allow' as const }
      const answerKey = { idempotencyKey: `answer ${session}`.replace(' ', '-') }
      const first = await call('answerRequest', { id, digest, answer }, answerKey)
      await over(session)
      expect(await call('answerRequest', { id, digest, answer }, answerKey)).toEqual(first)
      const other = call('answerRequest', { id, digest, answer: { kind: 'deny' } }, answerKey)
      expect(await faultOf(other)).toMatchObject({ code: 'idempotency_mismatch' })
      const messageKey = { idempotencyKey: `message-${session}` }
      const command = await call('sendMessage', { id: session, text: 'two' }, messageKey)
      expect(await call('sendMessage', { id: session, text: 'two' }, messageKey)).toEqual(command)
      await say(await asked(session, 2), { kind: 'allow' })
      expect(await over(session, 2)).toEqual(['Echo: one', 'Echo: two'])
    })

    it('resumes the stream in the middle, and misses nothing', async () => {
      const session = await play('echo', 'one')
      await say(await asked(session), { kind: 'allow' })
      await over(session)
      const { items } = await call('listEvents', { id: session })
      const middle = items[4]
      if (!middle) throw new Error('there are more')
      const stop = new AbortController()
      const heard: Event[] = []
      for await (const frame of here().place.watch({ after: middle.cursor, signal: stop.signal })) {
        if (frame.frame === 'hello') expect(frame.hello).toMatchObject({ resume: 'ok', sessions: [], requests: [] })
        if (frame.frame !== 'event' || frame.event.session !== session) continue
        heard.push(frame.event)
        if (frame.event.cursor === items.at(-1)?.cursor) break
      }
      stop.abort()
      expect(heard).toEqual(items.slice(5))
    })
  })
}

/** An event in so many words. */
function line(event: Event): string {
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

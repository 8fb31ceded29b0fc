import { httpCall, Inbox, Transcript, type TranscriptSnapshot, watchEvents } from '@holdpoint/client'
import { type Call, Fault, type Frame, type SessionId } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { approval, openSession, secrets, startTestServer, type TestServer } from '../../server/test/test-server.ts'

let gateway: TestServer
let person: Call
let agent: Call
const open: { close(): void }[] = []
beforeAll(async () => {
  gateway = await startTestServer()
  person = httpCall({ url: gateway.url, token: secrets.person })
  agent = httpCall({ url: gateway.url, token: secrets.agent })
})
afterEach(() => {
  for (const opened of open.splice(0)) opened.close()
})
afterAll(() => gateway.close())

function follow(session: SessionId): Transcript {
  const connection = { url: gateway.url, token: secrets.person }
  const inbox = new Inbox({ call: person, watch: options => watchEvents(connection, options) })
  const transcript = new Transcript(inbox.transcriptOptions(session))
  open.push(transcript, inbox)
  return transcript
}
function when(transcript: Transcript, is: (snapshot: TranscriptSnapshot) => boolean): Promise<TranscriptSnapshot> {
  return new Promise(resolve => {
    const check = () => {
      const snapshot = transcript.getSnapshot()
      if (is(snapshot)) {
        stop()
        resolve(snapshot)
      }
    }
    const stop = transcript.subscribe(check)
    check()
  })
}
const say = (id: SessionId, ...texts: string[]) =>
  agent('appendEvents', { id, items: texts.map(text => ({ type: 'message.added' as const, block: text, text })) })
const texts = ({ entries }: TranscriptSnapshot) =>
  entries.flatMap(entry => (entry.kind === 'message' ? [entry.text] : []))

describe('a transcript', () => {
  it('a transcript loads the newest page first, and earlier pages up to the first entry', async () => {
    const { id } = await openSession(gateway)
    const all = Array.from({ length: 700 }, (_, i) => `line ${i}`)
    for (let from = 0; from < all.length; from += 100) await say(id, ...all.slice(from, from + 100))
    const transcript = follow(id)
    const first = await when(transcript, ({ loaded }) => loaded)
    expect(first.earlier).toBe('some')
    expect(texts(first).at(-1)).toBe('line 699')
    expect(first.entries.length).toBeLessThanOrEqual(300)
    await transcript.loadEarlier()
    await transcript.loadEarlier()
    const last = await when(transcript, ({ earlier }) => earlier === 'none')
    expect(texts(last)).toEqual(all)
    await transcript.loadEarlier()
    expect(transcript.getSnapshot()).toBe(transcript.getSnapshot())
  })
  it('a transcript loads one page if two callers ask for it at once, and both wait for it', async () => {
    const { id } = await openSession(gateway)
    for (let from = 0; from < 700; from += 100)
      await say(id, ...Array.from({ length: 100 }, (_, i) => `line ${from + i}`))
    const transcript = follow(id)
    const { entries } = await when(transcript, ({ loaded }) => loaded)
    void transcript.loadEarlier()
    await transcript.loadEarlier()
    const after = transcript.getSnapshot()
    expect(after.earlier).toBe('some')
    expect(after.entries.length).toBe(entries.length + 300)
  })
  it('a transcript shows new messages of the agent and text that is streaming', async () => {
    const { id } = await openSession(gateway)
    const transcript = follow(id)
    await when(transcript, ({ loaded }) => loaded)
    await agent('appendEvents', { id, items: [{ type: 'message.delta', block: 'b', offset: 0, text: 'Hel' }] })
    const growing = await when(transcript, ({ entries }) => entries.some(entry => entry.kind === 'message'))
    expect(growing.entries.at(-1)).toMatchObject({ text: 'Hel', streaming: true })
    await agent('appendEvents', { id, items: [{ type: 'message.added', block: 'b', text: 'Hello.' }] })
    const said = await when(transcript, snapshot => texts(snapshot).includes('Hello.'))
    expect(said.entries.filter(entry => entry.kind === 'message')).toMatchObject([{ text: 'Hello.', streaming: false }])
  })
  it('a transcript updates a request until its delivery, and a message until it is done or failed', async () => {
    const { id } = await openSession(gateway)
    const transcript = follow(id)
    const request = await agent('openRequest', { id, key: 'k', ask: approval('may I?') })
    await when(transcript, ({ entries }) => entries.some(entry => entry.kind === 'request'))
    await person('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
    await agent('reportDelivery', { id: request.id, state: 'handed' })
    const updated = await when(transcript, ({ entries }) =>
      entries.some(entry => entry.kind === 'request' && entry.request.delivery.state === 'handed'),
    )
    expect(updated.entries.find(entry => entry.kind === 'request')).toMatchObject({
      request: { status: 'resolved', resolution: { by: 'person', person: 'ada' } },
    })
    const command = await person('sendMessage', { id, text: 'and then?' })
    await when(transcript, snapshot => texts(snapshot).includes('and then?'))
    await agent('takeCommand', { id: command.id })
    await agent('finishCommand', { id: command.id, outcome: { ok: false, reason: 'no' } })
    const done = await when(transcript, ({ entries }) =>
      entries.some(entry => entry.kind === 'message' && entry.state === 'failed'),
    )
    expect(done.entries.at(-1)).toMatchObject({ by: 'ada', problem: 'no' })
  })
  it('a transcript reports a permanent fault and does not retry', async () => {
    const transcript = follow(`ses_${'0'.repeat(20)}` as SessionId) // the string has the format of a session id
    const { problem, loaded } = await when(transcript, snapshot => snapshot.problem !== null)
    expect(loaded).toBe(false)
    expect(problem).toBeInstanceOf(Fault)
  })
  it('a transcript returns the same snapshot until something changes', async () => {
    const { id } = await openSession(gateway)
    const transcript = follow(id)
    await when(transcript, ({ loaded }) => loaded)
    expect(transcript.getSnapshot()).toBe(transcript.getSnapshot())
  })
})

describe('a transcript with failing calls or streams', () => {
  /** Opens a transcript of a fake log. The test controls the stream and can make calls fail. */
  function openFake(events: readonly string[], failures = 0) {
    const id = `ses_${'1'.repeat(20)}` as SessionId // the string has the format of a session id
    const listeners = new Set<(frame: Frame) => void>()
    const log = [...events]
    const eventOf = (text: string, i: number) => ({
      cursor: `e-${i + 1}`,
      at: i,
      session: id,
      type: 'message.added',
      block: text,
      role: 'agent',
      text,
    })
    let failuresLeft = failures
    let calls = 0
    const call = (async (_op: string, input: { before: string }) => {
      calls++
      if (failuresLeft > 0) {
        failuresLeft--
        throw new Error('unreachable')
      }
      const end = input.before === 'end' ? log.length : Number(input.before.slice(2)) - 1
      const start = Math.max(0, end - 2)
      return {
        items: log.slice(start, end).map((text, i) => eventOf(text, start + i)),
        next: start > 0 ? `e-${start + 1}` : null,
      }
    }) as unknown as Call // the transcript calls only listEvents
    const transcript = new Transcript({
      call,
      session: id,
      frames: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    })
    open.push(transcript)
    return {
      transcript,
      log,
      fail: (count: number) => {
        failuresLeft = count
      },
      calls: () => calls,
      listeners,
      append: (text: string) => {
        log.push(text)
        const frame = { frame: 'event', event: eventOf(text, log.length - 1) } as Frame // the object has the fields of an event frame
        for (const listener of listeners) listener(frame)
      },
      sendHello: (resume: 'ok' | 'gap') => {
        const hello = {
          cursor: 'e-1',
          epoch: 'e',
          now: 0,
          resume,
          sessions: [],
          requests: [],
          pending: 0,
          more: false,
          blocks: [],
        }
        for (const listener of listeners) listener({ frame: 'hello', hello })
      },
    }
  }

  it('a transcript with failing calls or streams keeps its entries if an earlier page fails to load, and can load this page again', async () => {
    const { transcript, fail } = openFake(['a', 'b', 'c', 'd'])
    await when(transcript, ({ loaded }) => loaded)
    fail(1)
    await expect(transcript.loadEarlier()).rejects.toThrow('unreachable')
    expect(texts(transcript.getSnapshot())).toEqual(['c', 'd'])
    expect(transcript.getSnapshot().earlier).toBe('some')
    await transcript.loadEarlier()
    expect(texts(transcript.getSnapshot())).toEqual(['a', 'b', 'c', 'd'])
  })
  it('a transcript with failing calls or streams retries until the newest page is loaded', async () => {
    const fake = openFake(['a'], 2)
    const { problem } = await when(fake.transcript, ({ loaded }) => loaded)
    expect(problem).toBeNull()
    expect(fake.calls()).toBe(3)
  })
  it('a transcript with failing calls or streams loads the newest page again after a gap in the stream', async () => {
    const { transcript, log, sendHello } = openFake(['a', 'b', 'c', 'd'])
    await when(transcript, ({ loaded }) => loaded)
    await transcript.loadEarlier()
    log.push('e', 'f', 'g')
    sendHello('gap')
    const reloaded = await when(transcript, snapshot => texts(snapshot).includes('g'))
    expect(texts(reloaded)).toEqual(['f', 'g'])
    expect(reloaded.earlier).toBe('some')
  })
  it('a transcript with failing calls or streams keeps its entries when the stream resumes without a gap', async () => {
    const { transcript, append, sendHello, calls } = openFake(['a'])
    await when(transcript, ({ loaded }) => loaded)
    sendHello('ok')
    append('b')
    expect(texts(await when(transcript, snapshot => texts(snapshot).length === 2))).toEqual(['a', 'b'])
    expect(calls()).toBe(1)
  })
  it('a transcript with failing calls or streams shows an event only once if it arrives while the newest page is loading', async () => {
    const { transcript, append } = openFake(['a'])
    append('b')
    expect(texts(await when(transcript, ({ loaded }) => loaded))).toEqual(['a', 'b'])
  })
  it('a transcript with failing calls or streams ends its subscription when it is closed', async () => {
    const { transcript, listeners } = openFake(['a'])
    await when(transcript, ({ loaded }) => loaded)
    transcript.close()
    expect(listeners.size).toBe(0)
  })
})

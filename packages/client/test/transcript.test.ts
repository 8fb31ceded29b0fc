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
  for (const thing of open.splice(0)) thing.close()
})
afterAll(() => gateway.close())

function follow(session: SessionId): Transcript {
  const connection = { url: gateway.url, token: secrets.person }
  const inbox = new Inbox({ call: person, watch: options => watchEvents(connection, options) })
  const transcript = inbox.transcript(session)
  open.push(transcript, inbox)
  return transcript
}
function when(transcript: Transcript, is: (snapshot: TranscriptSnapshot) => boolean): Promise<TranscriptSnapshot> {
  return new Promise(resolve => {
    const look = () => {
      const snapshot = transcript.getSnapshot()
      if (is(snapshot)) {
        stop()
        resolve(snapshot)
      }
    }
    const stop = transcript.subscribe(look)
    look()
  })
}
const say = (id: SessionId, ...texts: string[]) =>
  agent('appendEvents', { id, items: texts.map(text => ({ type: 'message.added' as const, block: text, text })) })
const texts = ({ entries }: TranscriptSnapshot) =>
  entries.flatMap(entry => (entry.kind === 'message' ? [entry.text] : []))

describe('a transcript', () => {
  it('begins at the end and reads on backwards, to the first line', async () => {
    const { id } = await openSession(gateway)
    const all = Array.from({ length: 700 }, (_, i) => `line ${i}`)
    for (let from = 0; from < all.length; from += 100) await say(id, ...all.slice(from, from + 100))
    const transcript = follow(id)
    const first = await when(transcript, ({ loaded }) => loaded)
    expect(first.earlier).toBe('some')
    expect(texts(first).at(-1)).toBe('line 699')
    expect(first.entries.length).toBeLessThanOrEqual(300)
    await transcript.loadEarlier()
    // Asked for twice at once, it is read once.
    await Promise.all([transcript.loadEarlier(), transcript.loadEarlier()])
    const last = await when(transcript, ({ earlier }) => earlier === 'none')
    expect(texts(last)).toEqual(all)
    await transcript.loadEarlier()
    expect(transcript.getSnapshot()).toBe(transcript.getSnapshot())
  })
  it('grows as the agent speaks, and shows what streams', async () => {
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
  it('follows a request to its delivery, and a message to its fate', async () => {
    const { id } = await openSession(gateway)
    const transcript = follow(id)
    const request = await agent('openRequest', { id, key: 'k', ask: approval('may I?') })
    await when(transcript, ({ entries }) => entries.some(entry => entry.kind === 'request'))
    await person('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
    await agent('reportDelivery', { id: request.id, state: 'handed' })
    const told = await when(transcript, ({ entries }) =>
      entries.some(entry => entry.kind === 'request' && entry.request.delivery.state === 'handed'),
    )
    expect(told.entries.find(entry => entry.kind === 'request')).toMatchObject({
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
  it('says why it cannot be read, and does not try again where that would be answered the same', async () => {
    const transcript = follow(`ses_${'0'.repeat(20)}` as SessionId) // spelt as ids are
    const { problem, loaded } = await when(transcript, snapshot => snapshot.problem !== null)
    expect(loaded).toBe(false)
    expect(problem).toBeInstanceOf(Fault)
  })
  it('is the same object until something changes', async () => {
    const { id } = await openSession(gateway)
    const transcript = follow(id)
    await when(transcript, ({ loaded }) => loaded)
    expect(transcript.getSnapshot()).toBe(transcript.getSnapshot())
  })
})

describe('a transcript whose stream or calls fail', () => {
  /** A log of its own, whose calls can be made to fail, and whose stream is in the test's hands. */
  function stage(events: readonly string[], failures = 0) {
    const id = `ses_${'1'.repeat(20)}` as SessionId // spelt as ids are
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
    let left = failures
    let calls = 0
    const call = (async (_op: string, input: { before: string }) => {
      calls++
      if (left > 0) {
        left--
        throw new Error('cut off')
      }
      const end = input.before === 'end' ? log.length : Number(input.before.slice(2)) - 1
      const start = Math.max(0, end - 2)
      return {
        items: log.slice(start, end).map((text, i) => eventOf(text, start + i)),
        next: start > 0 ? `e-${start + 1}` : null,
      }
    }) as unknown as Call // listEvents is all that is called
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
        left = count
      },
      calls: () => calls,
      listeners,
      tell: (text: string) => {
        log.push(text)
        const frame = { frame: 'event', event: eventOf(text, log.length - 1) } as Frame // as the stream spells it
        for (const listener of listeners) listener(frame)
      },
      greet: (resume: 'ok' | 'gap') => {
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

  it('keeps what is there when an earlier page fails, and can ask again', async () => {
    const { transcript, fail } = stage(['a', 'b', 'c', 'd'])
    await when(transcript, ({ loaded }) => loaded)
    fail(1)
    await expect(transcript.loadEarlier()).rejects.toThrow('cut off')
    expect(texts(transcript.getSnapshot())).toEqual(['c', 'd'])
    expect(transcript.getSnapshot().earlier).toBe('some')
    await transcript.loadEarlier()
    expect(texts(transcript.getSnapshot())).toEqual(['a', 'b', 'c', 'd'])
  })
  it('tries its first page until it has it', async () => {
    const staged = stage(['a'], 2)
    const { problem } = await when(staged.transcript, ({ loaded }) => loaded)
    expect(problem).toBeNull()
    expect(staged.calls()).toBe(3)
  })
  it('begins anew at the end after a gap, since something may be missing behind what is there', async () => {
    const { transcript, log, greet } = stage(['a', 'b', 'c', 'd'])
    await when(transcript, ({ loaded }) => loaded)
    await transcript.loadEarlier()
    log.push('e', 'f', 'g')
    greet('gap')
    const anew = await when(transcript, snapshot => texts(snapshot).includes('g'))
    expect(texts(anew)).toEqual(['f', 'g'])
    expect(anew.earlier).toBe('some')
  })
  it('goes on where it was after a stream that resumed', async () => {
    const { transcript, tell, greet, calls } = stage(['a'])
    await when(transcript, ({ loaded }) => loaded)
    greet('ok')
    tell('b')
    expect(texts(await when(transcript, snapshot => texts(snapshot).length === 2))).toEqual(['a', 'b'])
    expect(calls()).toBe(1)
  })
  it('tells what came while the first page was read once, in its place', async () => {
    const { transcript, tell } = stage(['a'])
    tell('b')
    expect(texts(await when(transcript, ({ loaded }) => loaded))).toEqual(['a', 'b'])
  })
  it('hears nothing more once it is closed', async () => {
    const { transcript, listeners } = stage(['a'])
    await when(transcript, ({ loaded }) => loaded)
    transcript.close()
    expect(listeners.size).toBe(0)
  })
})

import type { Delivery, Event, EventBody, RequestId, Resolution, Session, SessionId } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../src/transcript-entry.ts'
import { TranscriptState } from '../src/transcript-state.ts'

const id = `ses_${'a'.repeat(20)}` as SessionId // spelt as ids are
const requestId = (n: number) => `req_${String(n).padStart(20, '0')}` as RequestId // spelt as ids are
const session = {
  id,
  driver: 'test',
  title: 'A session',
  cwd: '/tmp',
  mode: null,
  model: null,
  state: 'idle',
  stateChangedAt: 0,
  startedAt: 0,
  endedAt: null,
  ending: null,
  pending: 0,
  cost: null,
  lastMessage: '',
  runner: null,
  capabilities: [],
  conversationId: null,
  deadlineMs: null,
  onDeadline: 'wait',
  parkAfterMs: null,
  options: {},
  process: null,
} as const satisfies Session
const resolution: Resolution = { at: 1, by: 'person', person: 'ada', answer: { kind: 'allow' } }
const delivery = (state: Delivery['state']): Delivery => ({ state, at: 1 })

function logOf(bodies: readonly EventBody[]): Event[] {
  return bodies.map((body, i) => ({ cursor: `e-${i + 1}`, at: i + 1, session: id, ...body }) as Event) // a union is not spread as one
}
function read(events: readonly Event[]): readonly Entry[] {
  const account = new TranscriptState()
  for (const event of events) account.apply(event)
  return account.entries()
}
/** As a reader does who begins at the end: the last page first, the pages before it one by one. */
function readBackwards(events: readonly Event[], pageSize: number): readonly Entry[] {
  const account = new TranscriptState()
  const last = Math.max(0, events.length - pageSize)
  for (const event of events.slice(last)) account.apply(event)
  for (let end = last; end > 0; end -= pageSize) account.prepend(events.slice(Math.max(0, end - pageSize), end))
  return account.entries()
}

const block = fc.integer({ min: 0, max: 5 }).map(n => `b${n}`)
const said = fc.oneof(
  fc.record({
    type: fc.constant('message.added' as const),
    block,
    role: fc.constant('agent' as const),
    text: fc.string(),
    partial: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('tool.started' as const),
    block: block.map(name => `t${name}`),
    tool: fc.constantFrom('Bash', 'Read'),
    input: fc.record({ command: fc.string() }),
  }),
  fc.record({
    type: fc.constant('tool.finished' as const),
    block: block.map(name => `t${name}`),
    ok: fc.boolean(),
    output: fc.option(fc.string(), { nil: undefined }),
  }),
  fc.record({
    type: fc.constant('turn.finished' as const),
    ending: fc.constantFrom('done' as const, 'failed' as const),
  }),
  fc.record({
    type: fc.constant('session.changed' as const),
    value: fc
      .record({
        state: fc.constantFrom('idle' as const, 'working' as const, 'parked' as const),
        mode: fc.constantFrom(null, 'plan', 'default'),
        note: fc.option(fc.constantFrom('kept warm', 'ended by itself'), { nil: undefined }),
      })
      .map(({ state, mode, note }): Session => {
        const process = note === undefined ? null : { state: 'live' as const, note, changedAt: 0 }
        return { ...session, state, mode, process }
      }),
  }),
)
/** The life of one request and of one message by a person; where a step lands among the others is chance. */
const lives = (n: number): EventBody[] => [
  { type: 'request.opened', value: { ...pending, id: requestId(n) } },
  { type: 'request.overdue', request: requestId(n) },
  { type: 'request.resolved', request: requestId(n), digest: 'd', resolution, delivery: delivery('waiting') },
  { type: 'request.handed', request: requestId(n), delivery: delivery('handed') },
  { type: 'request.taken', request: requestId(n), delivery: delivery('taken') },
]
const pending = {
  id: requestId(0),
  session: id,
  key: 'k',
  agentPath: [],
  ask: { kind: 'approval', tool: 'Bash', input: { command: 'ls' }, title: 'ls', cwd: '/tmp', editable: true },
  digest: 'd',
  openedAt: 0,
  deadlineAt: null,
  onDeadline: 'wait',
  overdue: false,
  status: 'pending',
  needs: 1,
  endorsements: [],
  resolution: null,
  delivery: delivery('waiting'),
} as const satisfies Extract<EventBody, { type: 'request.opened' }>['value']
const commands = (n: number): EventBody[] => {
  const command = `cmd_${String(n).padStart(20, '0')}` as Extract<EventBody, { type: 'command.taken' }>['command'] // spelt as ids are
  const body = { kind: 'message', text: `say ${n}` } as const
  const value = {
    id: command,
    session: id,
    seq: n,
    body,
    madeBy: 'ada',
    madeAt: 0,
    state: 'waiting',
    outcome: null,
  } as const
  return [
    { type: 'command.added', value },
    { type: 'command.taken', command },
    { type: 'command.taken', command },
    { type: 'command.done', command, outcome: { ok: n % 2 === 0, reason: 'why' } },
  ]
}
const log = fc.tuple(fc.array(said, { maxLength: 40 }), fc.infiniteStream(fc.nat(9))).map(([bodies, chance]) => {
  const waiting = [lives(1), lives(2), commands(1), commands(2)]
  const mixed: EventBody[] = [{ type: 'session.opened', value: session }]
  for (const body of bodies) {
    mixed.push(body as EventBody) // what the records above spell is one
    const next = waiting[chance.next().value as number]?.shift() // an endless stream has a value
    if (next) mixed.push(next)
  }
  return logOf(mixed)
})

describe('an account of a log', () => {
  it('is the same whether its pages are read from the start or from the end', () => {
    fc.assert(
      fc.property(log, fc.integer({ min: 1, max: 12 }), (events, pageSize) => {
        expect(readBackwards(events, pageSize)).toEqual(read(events))
      }),
      { numRuns: 500 },
    )
  })
  it('is the same where events are told twice', () => {
    fc.assert(
      fc.property(log, events => {
        const messages = events.filter(event => event.type !== 'session.changed')
        const twice = messages.flatMap(event => [event, event])
        expect(read(twice)).toEqual(read(messages))
      }),
    )
  })
  it('shows a park at the border of two pages once the page before it is there', () => {
    const events = logOf([
      { type: 'session.opened', value: session },
      { type: 'message.added', block: 'a', role: 'agent', text: 'first' },
      { type: 'session.changed', value: { ...session, state: 'parked' } },
      { type: 'message.added', block: 'b', role: 'agent', text: 'second' },
    ])
    const account = new TranscriptState()
    for (const event of events.slice(2)) account.apply(event)
    expect(account.entries().map(entry => entry.kind)).toEqual(['message'])
    account.prepend(events.slice(0, 2))
    expect(account.entries().map(entry => entry.kind)).toEqual(['message', 'note', 'message'])
  })
  it('says how long a tool took', () => {
    const events = logOf([
      { type: 'tool.started', block: 't', tool: 'Bash', input: {} },
      { type: 'tool.finished', block: 't', ok: true, output: 'done' },
    ])
    expect(read(events)).toMatchObject([{ state: 'ok', at: 1, endedAt: 2, output: 'done' }])
  })
})

describe('text that streams', () => {
  const delta = (offset: number, text: string) => ({ block: 'a', type: 'message.delta' as const, offset, text })

  it('grows, and is replaced by the block once that is finished', () => {
    const account = new TranscriptState()
    account.addDelta(delta(0, 'Hel'))
    account.addDelta(delta(3, 'lo'))
    account.addDelta(delta(3, 'lo'))
    expect(account.entries()).toMatchObject([{ text: 'Hello', streaming: true }])
    for (const event of logOf([{ type: 'message.added', block: 'a', role: 'agent', text: 'Hello.' }]))
      account.apply(event)
    expect(account.entries()).toMatchObject([{ text: 'Hello.', streaming: false }])
  })
  it('goes on behind what is kept of a block that was cut off', () => {
    const account = new TranscriptState()
    for (const event of logOf([{ type: 'message.added', block: 'a', role: 'agent', text: 'Hello', partial: true }]))
      account.apply(event)
    account.addDelta(delta(5, ' again'))
    expect(account.entries()).toMatchObject([{ id: 'a', text: 'Hello again', streaming: true }])
  })
  it('says that its beginning was missed', () => {
    const account = new TranscriptState()
    account.addDelta(delta(7, 'world'))
    expect(account.entries()).toMatchObject([{ text: '…world' }])
  })
  it('goes on in an account that is read anew after a gap', () => {
    const account = new TranscriptState()
    account.addDelta(delta(0, 'Hel'))
    expect(account.emptied().entries()).toMatchObject([{ text: 'Hel', streaming: true }])
  })
  it('ends with its session', () => {
    const account = new TranscriptState()
    account.addDelta(delta(0, 'Hel'))
    const ended: Session = { ...session, state: 'ended', ending: { reason: 'stopped' } }
    for (const event of logOf([{ type: 'session.ended', value: ended }])) account.apply(event)
    expect(account.entries()).toMatchObject([{ kind: 'note', text: 'Session ended: stopped' }])
  })
})

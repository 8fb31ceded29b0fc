import type { Delivery, Event, EventBody, RequestId, Resolution, Session, SessionId } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sessionSample } from '../../../test/support/session-sample.ts'
import type { Entry } from '../src/transcript-entry.ts'
import { TranscriptState } from '../src/transcript-state.ts'

const id = `ses_${'a'.repeat(20)}` as SessionId // the string has the format of a session id
const requestId = (n: number) => `req_${String(n).padStart(20, '0')}` as RequestId // the string has the format of a request id
const session = sessionSample({ id })
const resolution: Resolution = { at: 1, by: 'person', person: 'ada', answer: { kind: 'allow' } }
const delivery = (state: Delivery['state']): Delivery => ({ state, at: 1 })

function logOf(bodies: readonly EventBody[]): Event[] {
  return bodies.map((body, i) => ({ cursor: `e-${i + 1}`, at: i + 1, session: id, ...body }) as Event) // TypeScript loses the union type when `body` is spread
}
function applyAll(events: readonly Event[]): readonly Entry[] {
  const state = new TranscriptState()
  for (const event of events) state.apply(event)
  return state.entries()
}
/** Loads the last page first, then the previous pages one by one. */
function readBackwards(events: readonly Event[], pageSize: number): readonly Entry[] {
  const state = new TranscriptState()
  const last = Math.max(0, events.length - pageSize)
  for (const event of events.slice(last)) state.apply(event)
  for (let end = last; end > 0; end -= pageSize) state.prepend(events.slice(Math.max(0, end - pageSize), end))
  return state.entries()
}

const block = fc.integer({ min: 0, max: 5 }).map(n => `b${n}`)
const agentEvents = fc.oneof(
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
        note: fc.option(fc.constantFrom('cannot be parked', 'exited'), { nil: undefined }),
      })
      .map(({ state, mode, note }): Session => {
        const process = note === undefined ? null : { state: 'live' as const, note, changedAt: 0 }
        return { ...session, state, mode, process }
      }),
  }),
)
/** Returns the events of one request in order. The test mixes them randomly with other events. */
const requestEvents = (n: number): EventBody[] => [
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
const commandEvents = (n: number): EventBody[] => {
  const command = `cmd_${String(n).padStart(20, '0')}` as Extract<EventBody, { type: 'command.taken' }>['command'] // the string has the format of a command id
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
const log = fc.tuple(fc.array(agentEvents, { maxLength: 40 }), fc.infiniteStream(fc.nat(9))).map(([bodies, chance]) => {
  const queues = [requestEvents(1), requestEvents(2), commandEvents(1), commandEvents(2)]
  const mixed: EventBody[] = [{ type: 'session.opened', value: session }]
  for (const body of bodies) {
    mixed.push(body as EventBody) // the records above contain only event bodies
    const next = queues[chance.next().value as number]?.shift() // `chance` is an infinite stream
    if (next) mixed.push(next)
  }
  return logOf(mixed)
})

describe('a transcript’s state', () => {
  it('a transcript’s state is the same whether the log is loaded from the start or from the end', () => {
    fc.assert(
      fc.property(log, fc.integer({ min: 1, max: 12 }), (events, pageSize) => {
        expect(readBackwards(events, pageSize)).toEqual(applyAll(events))
      }),
      { numRuns: 500 },
    )
  })
  it('a transcript’s state is the same if events are applied twice', () => {
    fc.assert(
      fc.property(log, events => {
        const messages = events.filter(event => event.type !== 'session.changed')
        const twice = messages.flatMap(event => [event, event])
        expect(applyAll(twice)).toEqual(applyAll(messages))
      }),
    )
  })
  it('a transcript’s state shows the note “parked” at the start of a page once the previous page is loaded', () => {
    const events = logOf([
      { type: 'session.opened', value: session },
      { type: 'message.added', block: 'a', role: 'agent', text: 'first' },
      { type: 'session.changed', value: { ...session, state: 'parked' } },
      { type: 'message.added', block: 'b', role: 'agent', text: 'second' },
    ])
    const state = new TranscriptState()
    for (const event of events.slice(2)) state.apply(event)
    expect(state.entries().map(entry => entry.kind)).toEqual(['message'])
    state.prepend(events.slice(0, 2))
    expect(state.entries().map(entry => entry.kind)).toEqual(['message', 'note', 'message'])
  })
  it('a transcript’s state combines the start and the end of a tool call', () => {
    const events = logOf([
      { type: 'tool.started', block: 't', tool: 'Bash', input: {} },
      { type: 'tool.finished', block: 't', ok: true, output: 'done' },
    ])
    expect(applyAll(events)).toMatchObject([{ state: 'ok', at: 1, endedAt: 2, output: 'done' }])
  })
})

describe('a streaming block in a transcript', () => {
  const delta = (offset: number, text: string) => ({ block: 'a', type: 'message.delta' as const, offset, text })

  it('a streaming block in a transcript grows by deltas and is replaced by the finished block', () => {
    const state = new TranscriptState()
    state.addDelta(delta(0, 'Hel'))
    state.addDelta(delta(3, 'lo'))
    state.addDelta(delta(3, 'lo'))
    expect(state.entries()).toMatchObject([{ text: 'Hello', streaming: true }])
    for (const event of logOf([{ type: 'message.added', block: 'a', role: 'agent', text: 'Hello.' }]))
      state.apply(event)
    expect(state.entries()).toMatchObject([{ text: 'Hello.', streaming: false }])
  })
  it('a streaming block in a transcript continues after the stored part of a block that was cut off', () => {
    const state = new TranscriptState()
    for (const event of logOf([{ type: 'message.added', block: 'a', role: 'agent', text: 'Hello', partial: true }]))
      state.apply(event)
    state.addDelta(delta(5, ' again'))
    expect(state.entries()).toMatchObject([{ id: 'a', text: 'Hello again', streaming: true }])
  })
  it('a streaming block in a transcript starts with an ellipsis if its beginning was missed', () => {
    const state = new TranscriptState()
    state.addDelta(delta(7, 'world'))
    expect(state.entries()).toMatchObject([{ text: '…world', missesStart: true }])
  })
  it('a streaming block in a transcript stays when the log is loaded again after a gap', () => {
    const state = new TranscriptState()
    state.addDelta(delta(0, 'Hel'))
    expect(state.emptied().entries()).toMatchObject([{ text: 'Hel', streaming: true }])
  })
  it('a streaming block in a transcript is removed when its session ends', () => {
    const state = new TranscriptState()
    state.addDelta(delta(0, 'Hel'))
    const ended: Session = { ...session, state: 'ended', ending: { reason: 'stopped' } }
    for (const event of logOf([{ type: 'session.ended', value: ended }])) state.apply(event)
    expect(state.entries()).toMatchObject([{ kind: 'note', text: 'Session ended: stopped' }])
  })
})

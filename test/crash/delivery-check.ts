/** Checks the delivery of one allowed answer against the session's log: the delivery must be unknown if the runner died after `handed` and before `taken`, and only then. */
import { existsSync, readFileSync } from 'node:fs'
import type { Call, Event, Request, SessionId } from '@holdpoint/protocol'
import { expect } from 'vitest'
import { type EventRecorder, isEvent } from '../support/event-recorder.ts'

export interface WrittenLine {
  readonly session: SessionId
  readonly line: string
  readonly file: string
  /** The request as returned when the answer was acknowledged. */
  readonly answered: Request
}

/** Returns whether the event parks a session. In these tests, a session is parked only when its runner is lost. */
export function isParked(event: Event): boolean {
  return event.type === 'session.changed' && event.value.state === 'parked'
}

export function timesWritten({ file, line }: Pick<WrittenLine, 'file' | 'line'>): number {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(entry => entry === line).length
    : 0
}

/** Returns the log of a session, and checks that the recorder received the same events in the same order. */
export async function sessionLog(call: Call, recorder: EventRecorder, session: SessionId): Promise<Event[]> {
  const { items } = await call('listEvents', { id: session, limit: 500 })
  expect(recorder.eventsOf(session).slice(0, items.length)).toEqual(items)
  return items
}

export async function checkDelivery(
  call: Call,
  recorder: EventRecorder,
  written: WrittenLine,
): Promise<'taken' | 'unknown'> {
  const log = await sessionLog(call, recorder, written.session)
  const request = await call('getRequest', { id: written.answered.id })
  expect(request.resolution, 'an acknowledged answer does not change').toEqual(written.answered.resolution)
  expect(log.filter(isEvent(written.session, 'request.resolved')).length, 'one resolution').toBe(1)
  expect(log.filter(isEvent(written.session, 'request.handed')).length, 'an allow is handed once').toBe(1)
  expect(log.filter(isEvent(written.session, 'turn.finished')).map(event => event.ending)).toEqual(['done'])
  const lostAt = log.findIndex(isParked)
  const before = lostAt < 0 ? log : log.slice(0, lostAt)
  const happened = (type: Event['type']) => before.some(event => event.type === type)
  const messages = log.flatMap(event => (event.type === 'message.added' ? [event.text] : []))
  if (lostAt >= 0 && happened('request.handed') && !happened('request.taken')) {
    expect(request.delivery.state, 'the crash makes the delivery unknown').toBe('unknown')
    expect(log.filter(isEvent(written.session, 'request.unknown')).length, 'people are told').toBe(1)
    expect(messages.at(-1), 'the agent is told').toMatch(/^Not written: .*outcome is unknown/)
    expect(timesWritten(written)).toBe(0)
    return 'unknown'
  }
  expect(request.delivery.state).toBe('taken')
  expect(log.filter(isEvent(written.session, 'request.unknown'))).toEqual([])
  if (lostAt >= 0 && happened('tool.started') && !happened('tool.finished')) {
    expect(messages.at(-1), 'the agent is told').toMatch(/^Perhaps written: .*outcome is unknown/)
    expect(timesWritten(written)).toBeLessThanOrEqual(1)
  } else {
    expect(messages, 'every message is stored once').toEqual([
      `I would like to write ${written.line}.`,
      `Written: ${written.line}`,
    ])
    expect(timesWritten(written), 'the action ran exactly once').toBe(1)
  }
  return 'taken'
}

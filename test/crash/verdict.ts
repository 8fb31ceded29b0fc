/** What must have become of one allowed line, judged by the session's own log: what was in hand when the runner died decides, and nothing else. */
import { existsSync, readFileSync } from 'node:fs'
import type { Call, Event, Request, SessionId } from '@holdpoint/protocol'
import { expect } from 'vitest'
import { told, type Witness } from '../support/event-recorder.ts'

export interface Story {
  readonly session: SessionId
  readonly line: string
  readonly file: string
  /** The answer as it was acknowledged. */
  readonly answered: Request
}

/** Its runner is gone. */
export function isParked(event: Event): boolean {
  return event.type === 'session.changed' && event.value.state === 'parked'
}

export function timesWritten({ file, line }: Pick<Story, 'file' | 'line'>): number {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(written => written === line).length
    : 0
}

/** The whole log of a session, which is also what the witness saw, in the same order. */
export async function logOf(call: Call, witness: Witness, session: SessionId): Promise<Event[]> {
  const { items } = await call('listEvents', { id: session, limit: 500 })
  expect(witness.of(session).slice(0, items.length)).toEqual(items)
  return items
}

export async function judge(call: Call, witness: Witness, story: Story): Promise<'taken' | 'unknown'> {
  const log = await logOf(call, witness, story.session)
  const request = await call('getRequest', { id: story.answered.id })
  expect(request.resolution, 'an acknowledged answer is kept as it was').toEqual(story.answered.resolution)
  expect(log.filter(told(story.session, 'request.resolved')).length, 'one resolution').toBe(1)
  expect(log.filter(told(story.session, 'request.handed')).length, 'an allow is handed once').toBe(1)
  expect(log.filter(told(story.session, 'turn.finished')).map(event => event.ending)).toEqual(['done'])
  const death = log.findIndex(isParked)
  const before = death < 0 ? log : log.slice(0, death)
  const happened = (type: Event['type']) => before.some(event => event.type === type)
  const words = log.flatMap(event => (event.type === 'message.added' ? [event.text] : []))
  if (death >= 0 && happened('request.handed') && !happened('request.taken')) {
    expect(request.delivery.state, 'the crash hid whether the agent got it').toBe('unknown')
    expect(log.filter(told(story.session, 'request.unknown')).length, 'the person is told').toBe(1)
    expect(words.at(-1), 'the agent is told').toMatch(/^Not written: .*outcome is unknown/)
    expect(timesWritten(story)).toBe(0)
    return 'unknown'
  }
  expect(request.delivery.state).toBe('taken')
  expect(log.filter(told(story.session, 'request.unknown'))).toEqual([])
  if (death >= 0 && happened('tool.started') && !happened('tool.finished')) {
    expect(words.at(-1), 'the agent is told').toMatch(/^Perhaps written: .*outcome is unknown/)
    expect(timesWritten(story)).toBeLessThanOrEqual(1)
  } else {
    expect(words, 'what was said is said once').toEqual([
      `I would like to write ${story.line}.`,
      `Written: ${story.line}`,
    ])
    expect(timesWritten(story), 'it ran exactly once').toBe(1)
  }
  return 'taken'
}

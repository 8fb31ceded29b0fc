/** How long a request may still wait, in words, by the gateway's clock. */
import { timeSince } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'

export interface DeadlineLabel {
  readonly text: string
  /** What silence will mean. */
  readonly afterwards: string
  /** It is nearly over, or over. */
  readonly urgent: boolean
}

const urgentMs = 60_000

export function deadlineLabel(
  { deadlineAt, onDeadline, overdue }: Pick<Request, 'deadlineAt' | 'onDeadline' | 'overdue'>,
  now: number,
): DeadlineLabel | null {
  if (deadlineAt === null) return null
  const leftMs = deadlineAt - now
  if (overdue || (leftMs <= 0 && onDeadline === 'wait')) {
    const late = timeSince(deadlineAt, now)
    return { text: late === 'now' ? 'overdue' : `overdue by ${late}`, afterwards: 'it waits on', urgent: true }
  }
  if (leftMs <= 0) return { text: 'time is up', afterwards: 'the agent is told that nobody answered', urgent: true }
  const afterwards =
    onDeadline === 'deny' ? 'then the agent is told that nobody answered' : 'then it waits on, as overdue'
  return { text: `${countdown(leftMs)} left`, afterwards, urgent: leftMs < urgentMs }
}

/** What becomes of it when nobody answers, as a sentence; null where it waits for as long as it takes. */
export function noAnswerLabel({
  deadlineAt,
  onDeadline,
  overdue,
}: Pick<Request, 'deadlineAt' | 'onDeadline' | 'overdue'>): string | null {
  if (deadlineAt === null || overdue) return null
  return onDeadline === 'deny'
    ? 'Without an answer in time, the agent is told that nobody answered.'
    : 'When its time is up it waits on, as overdue.'
}

function countdown(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds >= 48 * 3600) return `${Math.floor(seconds / 86_400)} d`
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

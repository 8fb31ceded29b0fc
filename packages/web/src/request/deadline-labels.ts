/** Texts about a request's deadline. All times refer to the gateway's clock. */
import { timeSince } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'

export interface DeadlineLabel {
  readonly text: string
  /** A sentence that says what happens at the deadline if no one answers, or what happens now that it has passed. */
  readonly afterwards: string
  /** True if less than a minute is left or the deadline has passed. */
  readonly urgent: boolean
}

const urgentMs = 60_000

const ifNoOneAnswers: Readonly<Record<Request['onDeadline'], string>> = {
  deny: 'If no one answers in time, the agent is told so.',
  wait: 'If no one answers in time, the request stays open and is marked overdue.',
}

export function deadlineLabel(
  { deadlineAt, onDeadline, overdue }: Pick<Request, 'deadlineAt' | 'onDeadline' | 'overdue'>,
  now: number,
): DeadlineLabel | null {
  if (deadlineAt === null) return null
  const leftMs = deadlineAt - now
  if (overdue || (leftMs <= 0 && onDeadline === 'wait')) {
    const late = timeSince(deadlineAt, now)
    const text = late === 'now' ? 'overdue' : `overdue by ${late}`
    return { text, afterwards: 'The request stays open until someone answers.', urgent: true }
  }
  if (leftMs <= 0)
    return { text: 'time is up', afterwards: 'The agent is told that no one answered in time.', urgent: true }
  return { text: `${countdown(leftMs)} left`, afterwards: ifNoOneAnswers[onDeadline], urgent: leftMs < urgentMs }
}

/** Returns a sentence about what happens if no one answers; null if the request has no deadline or is overdue. */
export function noAnswerLabel({
  deadlineAt,
  onDeadline,
  overdue,
}: Pick<Request, 'deadlineAt' | 'onDeadline' | 'overdue'>): string | null {
  if (deadlineAt === null || overdue) return null
  return ifNoOneAnswers[onDeadline]
}

/** The shown time is rounded down, so rounding up here would promise up to two seconds too many. */
function countdown(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds >= 48 * 3600) return `${Math.floor(seconds / 86_400)} d`
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

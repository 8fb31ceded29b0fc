/** Says how long a request may still wait. */
import { timeSince } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'

/** Returns the time until the deadline in its largest unit, “overdue” after it, and an empty text without a deadline. */
export function dueLabel({ deadlineAt, overdue }: Pick<Request, 'deadlineAt' | 'overdue'>, now: number): string {
  if (deadlineAt === null) return ''
  if (overdue || deadlineAt <= now) return 'overdue'
  return timeSince(now, deadlineAt).replace('now', '<1 min')
}

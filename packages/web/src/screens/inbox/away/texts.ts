/** Texts of the summary of what happened while the person was away. */
import { timeSince } from '@holdpoint/client'
import type { Away } from '../../../storage/last-visit.ts'

export const awayTexts = {
  title: 'While you were away',
  dismiss: 'Dismiss',
  finished: 'finished',
  overdue: 'nobody answered in time, still waiting',
  waiting: 'waiting for you',
  byRule: (answer: string, rule: string | null, count: number) =>
    `${count === 1 ? '' : `${count} × `}${answer} by ${rule === null ? 'a rule that was removed' : `the rule “${rule}”`}`,
  duration: ({ from, to }: Away) => timeSince(from, to),
  groups: {
    failed: { title: 'Failed, lost or disconnected', count: (count: string) => `${count} failed` },
    expired: { title: 'Expired or withdrawn', count: (count: string) => `${count} expired or withdrawn` },
    finished: { title: 'Finished', count: (count: string) => `${count} finished` },
    answered: { title: 'Answered', count: (count: string) => `${count} answered` },
    asked: { title: 'Asked, and waiting for you', count: (count: string) => `${count} asked` },
  },
  moreInAudit: 'View all in the audit log',
  moreInSessions: 'View all sessions',
  moreBelow: (count: number) => (count === 1 ? '1 more in the list below' : `${count} more in the list below`),
} as const

/** The filter of the audit log (options and gateway query), and the grouping of its entries by day. */
import type { AuditEntry, Input, SessionId } from '@holdpoint/protocol'
import { type answerChoices, auditTexts, type byChoices } from './texts.ts'

export interface AuditFilter {
  readonly by: (typeof byChoices)[number]['value']
  readonly answer: (typeof answerChoices)[number]['value']
  readonly session: SessionId | null
  /** The id of a person, or an empty string for everyone. */
  readonly person: string
  readonly folder: string
  /** The first and the last day as the browser's date field writes them (YYYY-MM-DD), or empty. */
  readonly from: string
  readonly to: string
  readonly q: string
}
export const noFilter: AuditFilter = {
  ...{ by: 'all', answer: 'all', session: null },
  ...{ person: '', folder: '', from: '', to: '', q: '' },
}

export type AuditQuery = Omit<Input<'listAudit'>, 'after' | 'before' | 'limit'>

export function auditQuery(filter: AuditFilter): AuditQuery {
  const { by, answer, session, person } = filter
  const [q, folder] = [filter.q.trim(), filter.folder.trim()]
  const [from, to] = [startOfDate(filter.from, 0), startOfDate(filter.to, 1)]
  return {
    include: 'notices',
    ...(by !== 'all' && { by }),
    ...(answer !== 'all' && { answer }),
    ...(session && { session }),
    ...(person && { person }),
    ...(folder && { folder }),
    ...(from !== null && { from }),
    ...(to !== null && { to }),
    ...(q && { q }),
  }
}

/** Returns when a day begins in the reader's time zone, or null if the date field is empty or incomplete. */
function startOfDate(date: string, offset: number): number | null {
  const [, year, month, day] = /^(\d{4,6})-(\d\d)-(\d\d)$/.exec(date) ?? []
  if (year === undefined) return null
  const at = new Date(Number(year), Number(month) - 1, Number(day) + offset).getTime()
  return Math.max(at, 0)
}

export interface Day {
  readonly name: string
  readonly entries: readonly AuditEntry[]
}

/** Groups entries, newest first, by day in the reader's time zone. */
export function byDay(entries: readonly AuditEntry[], now: number, locale?: string): readonly Day[] {
  const days: { name: string; entries: AuditEntry[] }[] = []
  for (const entry of entries) {
    const name = dayName(entry.at, now, locale)
    const last = days.at(-1)
    if (last?.name === name) last.entries.push(entry)
    else days.push({ name, entries: [entry] })
  }
  return days
}

function dayName(at: number, now: number, locale: string | undefined): string {
  const [day, today, yesterday] = [startOfDay(at, 0), startOfDay(now, 0), startOfDay(now, -1)]
  if (day === today) return auditTexts.today
  if (day === yesterday) return auditTexts.yesterday
  return new Date(at).toLocaleDateString(locale, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
}

function startOfDay(at: number, offset: number): number {
  const date = new Date(at)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + offset).getTime()
}

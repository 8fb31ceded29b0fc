/** Summarizes what happened while the person was away: which agents failed, which requests expired, which agents finished, and what was answered and asked. */
import {
  type AskSummary,
  answerLabel,
  effectiveAsk,
  resolutionLabel,
  ruleLabel,
  sessionName,
  stateLabel,
  summary,
  troubleOf,
} from '@holdpoint/client'
import type { AuditDecision, Request, RequestId, Rule, Session, SessionId } from '@holdpoint/protocol'
import type { Away } from '../../../storage/last-visit.ts'
import { awayTexts } from './texts.ts'

export const awayGroupNames = ['failed', 'expired', 'finished', 'answered', 'asked'] as const
export type AwayGroupName = (typeof awayGroupNames)[number]

export interface AwayEntry {
  readonly key: string
  readonly at: number
  readonly session: SessionId
  /** The request, if the entry is about one. */
  readonly request: RequestId | null
  /** What the agent wrote: the subject of the request, or the name of the session. Not escaped. */
  readonly what: AskSummary | string
  /** What happened, escaped for display. */
  readonly note: string
  /** What else the agent wrote: the name of the session, or its error or last message. Not escaped. */
  readonly detail: string
}
export interface AwayGroup {
  readonly name: AwayGroupName
  readonly count: number
  /** The latest entries. */
  readonly entries: readonly AwayEntry[]
}

/** The facts that are summarized. All times are by the gateway's clock. */
export interface AwayFacts {
  readonly away: Away
  /** The decisions that were made while the person was away, newest first. */
  readonly decisions: readonly AuditDecision[]
  readonly rules: ReadonlyMap<string, Rule>
  readonly sessions: ReadonlyMap<SessionId, Session>
  readonly requests: readonly Request[]
  readonly me: string
}

const entriesMax = 5

/** Returns the groups in which something happened, the most important first. */
export function summarizeAway(facts: AwayFacts): readonly AwayGroup[] {
  const answers = facts.decisions.filter(isAnswer)
  const all: Readonly<Record<AwayGroupName, readonly AwayEntry[]>> = {
    failed: sessionEntries(facts, failedAt),
    expired: expired(facts),
    finished: sessionEntries(facts, finishedAt),
    answered: answered(answers, facts),
    asked: asked(facts),
  }
  return awayGroupNames.flatMap(name => {
    const entries = all[name].toSorted((a, b) => b.at - a.at)
    const count = name === 'answered' ? answers.length : entries.length
    return count === 0 ? [] : [{ name, count, entries: entries.slice(0, entriesMax) }]
  })
}

function failedAt(session: Session): number | null {
  return troubleOf(session)?.at ?? null
}
/** Returns when the agent finished its last turn or its session, or null if it failed or is working again. */
function finishedAt(session: Session): number | null {
  const { state, ending, endedAt, lastTurn } = session
  if (troubleOf(session)) return null
  if (state === 'ended') return ending?.reason === 'done' ? endedAt : null
  const isOver = lastTurn?.ending === 'done' && (state === 'idle' || state === 'parked')
  return isOver ? (lastTurn.at ?? null) : null
}

function sessionEntries({ sessions, away }: AwayFacts, timeOf: (session: Session) => number | null): AwayEntry[] {
  return [...sessions.values()].flatMap(session => {
    const at = timeOf(session)
    if (at === null || !isDuring(away, at)) return []
    const trouble = troubleOf(session)
    const problem = trouble && (session.lastTurn?.problem ?? session.process?.note ?? session.ending?.detail)
    const note = trouble ? stateLabel(session) : awayTexts.finished
    const detail = problem ?? session.lastMessage
    return [{ key: session.id, at, session: session.id, request: null, what: sessionName(session), note, detail }]
  })
}

function isAnswer({ resolution: { by } }: AuditDecision): boolean {
  return by === 'person' || by === 'rule'
}

/** Returns one entry for each answer of a person, and one for all answers of the same rule. */
function answered(answers: readonly AuditDecision[], { rules, me }: AwayFacts): AwayEntry[] {
  const perRule = new Map<string, { readonly newest: AuditDecision; readonly count: number }>()
  for (const decision of answers) {
    const { by, rule = '' } = decision.resolution
    if (by !== 'rule') continue
    const known = perRule.get(rule)
    perRule.set(rule, { newest: known?.newest ?? decision, count: (known?.count ?? 0) + 1 })
  }
  const byRules = [...perRule].map(([id, { newest, count }]) => {
    const rule = rules.get(id)
    const note = awayTexts.byRule(answerLabel(newest.resolution), rule ? ruleLabel(rule) : null, count)
    return decisionEntry(newest, note)
  })
  const byPeople = answers.filter(({ resolution }) => resolution.by === 'person')
  return [...byRules, ...byPeople.map(each => decisionEntry(each, resolutionLabel(each.resolution, me)))]
}

/** Returns the requests that nobody answered in time, that their agents withdrew, or that are overdue. */
function expired({ decisions, requests, sessions, away }: AwayFacts): AwayEntry[] {
  const ended = decisions
    .filter(decision => !isAnswer(decision))
    .map(each => decisionEntry(each, answerLabel(each.resolution)))
  const overdue = requests.flatMap(request => {
    const { status, overdue: isOverdue, deadlineAt } = request
    if (status !== 'pending' || !isOverdue || deadlineAt === null || !isDuring(away, deadlineAt)) return []
    return [requestEntry(request, sessions, deadlineAt, awayTexts.overdue)]
  })
  return [...ended, ...overdue]
}

function asked({ requests, sessions, away }: AwayFacts): AwayEntry[] {
  return requests.flatMap(request =>
    request.status === 'pending' && isDuring(away, request.openedAt)
      ? [requestEntry(request, sessions, request.openedAt, awayTexts.waiting)]
      : [],
  )
}

function decisionEntry(decision: AuditDecision, note: string): AwayEntry {
  const { cursor, at, session, request, value, resolution, title, driver } = decision
  const what = summary(effectiveAsk(value.ask, resolution.effective?.input))
  return { key: cursor, at, session, request, what, note, detail: sessionName({ title, driver }) }
}

function requestEntry(
  { id, ask, session }: Request,
  sessions: AwayFacts['sessions'],
  at: number,
  note: string,
): AwayEntry {
  const from = sessions.get(session)
  return { key: id, at, session, request: id, what: summary(ask), note, detail: from ? sessionName(from) : '' }
}

function isDuring({ from, to }: Away, at: number): boolean {
  return at >= from && at <= to
}

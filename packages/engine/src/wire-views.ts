/** Converts rows to the objects that the API returns, and masks secrets in answers. */
import {
  type Ask,
  type PersonId,
  type Request,
  type Resolution,
  type Rule,
  type Runner,
  type RunnerId,
  type Session,
  type Token,
  withEffective,
} from '@holdpoint/protocol'
import type { CommandRow, RequestRow, RuleRow, RuleUseRow, RunnerRow, SessionRow, TokenRow } from './rows.ts'
import { maskAnswer } from './secrets.ts'
import type { ShownUsage } from './usage.ts'

export function toSession(row: SessionRow, usage: ShownUsage | undefined): Session {
  const {
    ord: _ord,
    lease: _lease,
    fence: _fence,
    turnOpen: _turn,
    needsRunner: _needsRunner,
    agent: _agent,
    openedBy: _openedBy,
    idleAttaches: _idle,
    commandSeq: _seq,
    account: _account,
    turnEndedSeq: _turnEndedSeq,
    endedSeq: _endedSeq,
    askedBack: _askedBack,
    id,
    ...session
  } = row
  const { pending = 0, waitedMs = 0, waitingSince } = usage ?? {}
  return { id, ...session, pending, waitedMs, ...(waitingSince === undefined ? {} : { waitingSince }) }
}

/** Converts a request row, and adds `effective` to its resolution. Secrets in its answer are masked; `withSecrets` adds them for the agent's side. */
export function toRequest(row: RequestRow): Request {
  const { ask, risk, follows, watcher, resolution } = row
  // Each call of an agent makes this copy, and copying the rest of a destructured row takes ten times as long.
  return {
    id: row.id,
    session: row.session,
    key: row.key,
    agentPath: row.agentPath,
    ask,
    digest: row.digest,
    ...(risk && { risk }),
    openedAt: row.openedAt,
    deadlineAt: row.deadlineAt,
    onDeadline: row.onDeadline,
    overdue: row.overdue,
    status: row.status,
    needs: row.needs,
    endorsements: row.endorsements,
    ...(follows && { follows }),
    ...(watcher && { watcher }),
    resolution: resolution && withEffective(ask, maskResolution(ask, resolution)),
    delivery: row.delivery,
  }
}

export function maskResolution(ask: Ask, resolution: Resolution): Resolution {
  return resolution.answer ? { ...resolution, answer: maskAnswer(ask, resolution.answer) } : resolution
}

export function toCommand(row: CommandRow) {
  const { ord: _ord, ...command } = row
  return command
}
export function toRunner(row: RunnerRow, now: number): Runner {
  const { ord: _ord, ...runner } = row
  return { ...runner, live: runner.expiresAt > now }
}
/** Converts a rule row, and adds how often the rule was used. */
export function toRule(row: RuleRow, use: RuleUseRow | undefined): Rule {
  const { ord: _ord, usesLeft, ...rule } = row
  return {
    ...rule,
    ...(usesLeft === undefined ? {} : { usesLeft: Math.max(0, usesLeft - (use?.uses ?? 0)) }),
    ...(use ? { uses: use.uses, lastUsedAt: use.lastUsedAt } : { uses: 0 }),
  }
}
export function toToken(row: TokenRow): Token {
  const { token: id, kind, role, subject, name, madeBy, madeAt, expiresAt, lastUsedAt = null } = row
  if (kind === 'link') throw new Error(`${id} is a link, which the API does not show as a token`)
  return {
    id,
    kind,
    role,
    name,
    person: role === 'owner' || role === 'person' ? (subject as PersonId) : null, // a token with these roles belongs to a person
    runner: role === 'runner' ? (subject as RunnerId) : null, // a runner's token belongs to a runner
    madeBy: madeBy.at(-1) ?? null,
    madeAt,
    expiresAt,
    lastUsedAt,
  }
}

/** Converts rows to the objects that the API returns, and masks secrets in answers. */
import {
  type PersonId,
  type Request,
  type Resolution,
  type Runner,
  type RunnerId,
  type Session,
  secretFieldIds,
  type Token,
} from '@holdpoint/protocol'
import { isPerson } from './authorization.ts'
import type { Caller } from './gateway.ts'
import type { CommandRow, RequestRow, RuleRow, RunnerRow, SessionRow, TokenRow } from './rows.ts'

export function toSession(row: SessionRow, pending: number): Session {
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
    id,
    ...session
  } = row
  return { id, ...session, pending }
}

/** Converts a request row. Agents and runners get the secrets in its answer; people and the log get them masked. */
export function toRequest(row: RequestRow, caller: Caller | null): Request {
  const { ord: _ord, handedFence: _fence, id, session, ...rest } = row
  const request = { id, session, ...rest }
  if (caller !== null && !isPerson(caller)) return request
  return request.resolution ? { ...request, resolution: maskSecrets(request, request.resolution) } : request
}

const mask = '••••••'

export function maskSecrets({ ask }: Pick<Request, 'ask'>, resolution: Resolution): Resolution {
  const { answer } = resolution
  const secret = secretFieldIds(ask)
  if (secret.size === 0 || !answer) return resolution
  if (answer.kind === 'answers') {
    const answers = answer.answers.map(item =>
      secret.has(item.id) && item.other !== undefined ? { ...item, other: mask } : item,
    )
    return { ...resolution, answer: { ...answer, answers } }
  }
  if (answer.kind === 'submit') {
    const values = Object.entries(answer.values).map(([name, value]) => [name, secret.has(name) ? mask : value])
    return { ...resolution, answer: { ...answer, values: Object.fromEntries(values) } }
  }
  return resolution
}

/** Returns whether a request view contains an unmasked secret. */
export function hasSecret({ ask, resolution }: Request): boolean {
  const answer = resolution?.answer
  const secret = secretFieldIds(ask)
  if (answer?.kind === 'answers')
    return answer.answers.some(({ id, other }) => secret.has(id) && other !== undefined && other !== mask)
  if (answer?.kind === 'submit')
    return Object.entries(answer.values).some(([name, value]) => secret.has(name) && value !== mask)
  return false
}

export function toCommand(row: CommandRow) {
  const { ord: _ord, ...command } = row
  return command
}
export function toRunner(row: RunnerRow, now: number): Runner {
  const { ord: _ord, ...runner } = row
  return { ...runner, live: runner.expiresAt > now }
}
export function toRule(row: RuleRow) {
  const { ord: _ord, ...rule } = row
  return rule
}
export function toToken(row: TokenRow): Token {
  const { token: id, kind, role, subject, name, madeBy, madeAt, expiresAt } = row
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
  }
}

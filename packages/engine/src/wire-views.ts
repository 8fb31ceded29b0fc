/** Converts rows to the objects that the API returns, and masks secrets in answers. */
import {
  type Request,
  type Resolution,
  type Runner,
  type Session,
  secretFieldIds,
  type Token,
} from '@holdpoint/protocol'
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
    person: _person,
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
  if (caller !== null && caller.role !== 'person') return request
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
  return { id: row.token as Token['id'], role: row.role, name: row.name, madeAt: row.madeAt, expiresAt: row.expiresAt } // `putToken` stored this value from a TokenId
}

/** Finds requests, sessions, rules and tokens by any unique start of their id, with or without its prefix (`req_`, `ses_`, `rul_`, `tok_`). */
import {
  type Call,
  Fault,
  limits,
  type Request,
  RequestId,
  type Rule,
  type Session,
  SessionId,
  type Token,
} from '@holdpoint/protocol'
import { liveSessions, pendingRequests } from './queries.ts'
import { rulesTexts } from './rules-texts.ts'
import { inputTexts } from './texts.ts'
import { tokenTexts } from './token-texts.ts'

const pagesMax = 10
/** Lists show at least this many letters of an id, and more if needed to make it unique. */
const shortIdLetters = 6

/** Looks among the pending requests first, then in the latest part of the audit log. */
export async function findRequest(call: Call, typedId: string): Promise<Request> {
  const fullId = RequestId.safeParse(typedId)
  if (fullId.success) return call('getRequest', { id: fullId.data })
  const matches = prefixMatcher(typedId, 'req')
  return (
    requireUnique(
      (await pendingRequests(call)).filter(({ id }) => matches(id)),
      typedId,
    ) ??
    requireUnique(await findInAuditLog(call, matches), typedId) ??
    throwNotFound('request', typedId)
  )
}

/** Finds several requests, each once, in the order of the ids. Throws if one of the ids fits no request or several. */
export async function findRequests(call: Call, typedIds: readonly string[]): Promise<readonly Request[]> {
  const found = new Map<RequestId, Request>()
  for (const typedId of typedIds) {
    const request = await findRequest(call, typedId)
    found.set(request.id, request)
  }
  return [...found.values()]
}

export async function findSession(call: Call, typedId: string): Promise<Session> {
  const fullId = SessionId.safeParse(typedId)
  if (fullId.success) return call('getSession', { id: fullId.data })
  const matches = prefixMatcher(typedId, 'ses')
  return (
    requireUnique(
      (await liveSessions(call)).filter(({ id }) => matches(id)),
      typedId,
    ) ??
    requireUnique(await endedSessions(call, matches), typedId) ??
    throwNotFound('session', typedId)
  )
}

export async function findRule(call: Call, typed: string): Promise<Rule> {
  const matches = prefixMatcher(typed, 'rul')
  const found = requireUnique(
    (await call('listRules', {})).items.filter(({ id }) => matches(id)),
    typed,
  )
  if (!found) throw new Fault('not_found', rulesTexts.notFound(typed))
  return found
}

/** Also finds a token by its exact name. Does not find a browser by name, because the name of a browser is that of its person. */
export async function findToken(call: Call, typed: string): Promise<Token> {
  const { items } = await call('listTokens', {})
  const named = items.filter(({ name, kind }) => kind === 'bearer' && name === typed)
  if (named.length > 1) throw new Fault('bad_input', tokenTexts.several(typed, listIds(named)))
  const matches = prefixMatcher(typed, 'tok')
  const found = requireUnique([...new Set([...named, ...items.filter(({ id }) => matches(id))])], typed)
  if (!found) throw new Fault('not_found', tokenTexts.notFound(typed))
  return found
}

function prefixMatcher(typedId: string, prefix: string): (id: string) => boolean {
  const lower = typedId.toLowerCase()
  const full = lower.startsWith(`${prefix}_`) ? lower : `${prefix}_${lower}`
  if (full === `${prefix}_`) throw new Fault('bad_input', inputTexts.notAnId(typedId))
  return id => id.startsWith(full)
}

function requireUnique<T extends { readonly id: string }>(found: readonly T[], typedId: string): T | null {
  if (found.length > 1) throw new Fault('bad_input', inputTexts.ambiguousId(typedId, listIds(found)))
  return found[0] ?? null
}
const listedIdsMax = 8
function listIds(found: readonly { readonly id: string }[]): string {
  const listed = found.slice(0, listedIdsMax).map(({ id }) => id)
  const more = found.length - listed.length
  return `${listed.join(' or ')}${more > 0 ? ` or ${more} others` : ''}`
}
function throwNotFound(what: 'request' | 'session', typedId: string): never {
  throw new Fault('not_found', inputTexts.notFound(what, typedId))
}

async function findInAuditLog(call: Call, matches: (id: string) => boolean): Promise<readonly Request[]> {
  const found = new Map<string, Request>()
  let before = 'end'
  for (let pages = 0; pages < pagesMax; pages++) {
    const { items, next } = await call('listAudit', { before, limit: limits.pageMax })
    for (const entry of items)
      if (entry.kind === 'decision' && matches(entry.request)) found.set(entry.request, entry.value)
    if (next === null) break
    before = next
  }
  return [...found.values()]
}

async function endedSessions(call: Call, matches: (id: string) => boolean): Promise<readonly Session[]> {
  const found: Session[] = []
  let before: SessionId | undefined
  for (let pages = 0; pages < pagesMax; pages++) {
    const { items, next } = await call('listSessions', {
      state: 'ended',
      limit: limits.pageMax,
      ...(before && { before }),
    })
    found.push(...items.filter(({ id }) => matches(id)))
    before = items.at(-1)?.id
    if (next === null || !before) break
  }
  return found
}

/** Returns a function that shortens an id so that it is still unique among these ids. */
export function idShortener(ids: readonly string[]): (id: string) => string {
  return id => {
    for (let end = id.indexOf('_') + 1 + shortIdLetters; end < id.length; end++)
      if (!ids.some(other => other !== id && other.startsWith(id.slice(0, end)))) return id.slice(0, end)
    return id
  }
}

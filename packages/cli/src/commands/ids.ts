/** Ids as people type them: any beginning that is unique, with or without its prefix. */
import { type Call, Fault, limits, type Request, RequestId, type Session, SessionId } from '@holdpoint/protocol'
import { liveSessions, pendingRequests } from './lists.ts'

const pagesMax = 10
/** How much of an id a list shows where that is enough to tell it from the others. */
const shortIdLetters = 6

/** Among what waits first; what has been resolved lately is on record. */
export async function findRequest(call: Call, spelled: string): Promise<Request> {
  const whole = RequestId.safeParse(spelled)
  if (whole.success) return call('getRequest', { id: whole.data })
  const begins = prefixMatcher(spelled, 'req')
  return (
    requireUnique(
      (await pendingRequests(call)).filter(({ id }) => begins(id)),
      spelled,
    ) ??
    requireUnique(await findInAuditLog(call, begins), spelled) ??
    throwNotFound('request', spelled)
  )
}

export async function findSession(call: Call, spelled: string): Promise<Session> {
  const whole = SessionId.safeParse(spelled)
  if (whole.success) return call('getSession', { id: whole.data })
  const begins = prefixMatcher(spelled, 'ses')
  return (
    requireUnique(
      (await liveSessions(call)).filter(({ id }) => begins(id)),
      spelled,
    ) ??
    requireUnique(await endedSessions(call, begins), spelled) ??
    throwNotFound('session', spelled)
  )
}

function prefixMatcher(spelled: string, prefix: string): (id: string) => boolean {
  const typed = spelled.toLowerCase()
  const full = typed.startsWith(`${prefix}_`) ? typed : `${prefix}_${typed}`
  if (full === `${prefix}_`) throw new Fault('bad_input', `"${spelled}" is no id; give a few letters of one`)
  return id => id.startsWith(full)
}

function requireUnique<T extends { readonly id: string }>(found: readonly T[], spelled: string): T | null {
  if (found.length > 1) throw new Fault('bad_input', `"${spelled}" could be ${listIds(found)}; give more letters`)
  return found[0] ?? null
}
const listedIdsMax = 8
function listIds(found: readonly { readonly id: string }[]): string {
  const named = found.slice(0, listedIdsMax).map(({ id }) => id)
  const more = found.length - named.length
  return `${named.join(' or ')}${more > 0 ? ` or ${more} others` : ''}`
}
function throwNotFound(what: string, spelled: string): never {
  throw new Fault('not_found', `There is no ${what} ${spelled}`)
}

async function findInAuditLog(call: Call, begins: (id: string) => boolean): Promise<readonly Request[]> {
  const found = new Map<string, Request>()
  let before = 'end'
  for (let pages = 0; pages < pagesMax; pages++) {
    const { items, next } = await call('listAudit', { before, limit: limits.pageMax })
    for (const { value } of items) if (begins(value.id)) found.set(value.id, value)
    if (next === null) break
    before = next
  }
  return [...found.values()]
}

async function endedSessions(call: Call, begins: (id: string) => boolean): Promise<readonly Session[]> {
  const found: Session[] = []
  let before: SessionId | undefined
  for (let pages = 0; pages < pagesMax; pages++) {
    const { items, next } = await call('listSessions', {
      state: 'ended',
      limit: limits.pageMax,
      ...(before && { before }),
    })
    found.push(...items.filter(({ id }) => begins(id)))
    before = items.at(-1)?.id
    if (next === null || !before) break
  }
  return found
}

/** Spells each of these ids as short as it may be typed. */
export function idShortener(ids: readonly string[]): (id: string) => string {
  return id => {
    for (let end = id.indexOf('_') + 1 + shortIdLetters; end < id.length; end++)
      if (!ids.some(other => other !== id && other.startsWith(id.slice(0, end)))) return id.slice(0, end)
    return id
  }
}

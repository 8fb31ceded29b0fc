/** Lists and searches the audit log (G10). The audit log has one entry for every resolution in the event log whose session still exists, with the current state of the request and its session. If the caller wants notices, it also has one entry for every other event of `auditTypes`. */
import {
  type Answer,
  type Ask,
  type AuditDecision,
  type AuditEntry,
  type Cursor,
  limits,
  type ParsedInput,
  withEffective,
} from '@holdpoint/protocol'
import type { Context } from '../context.ts'
import type { Caller } from '../gateway.ts'
import { type EventRange, eventBytes, jsonBytes, nextTurn, remainingRange } from '../paging.ts'
import { auditTypes, type SessionRow } from '../rows.ts'
import type { StoredEvent } from '../store.ts'
import { toRequest } from '../wire-views.ts'
import { cursorOf, inLogOrder, rangeOf, toEvent } from './events.ts'

type Filter = Pick<ParsedInput<'listAudit'>, 'by' | 'answer' | 'person' | 'q' | 'from' | 'to' | 'folder' | 'include'>
/** An event from the log: its audit entry if it matches the filter, and the number of bytes that were read. */
interface ScannedEvent {
  readonly cursor: Cursor
  readonly at: number
  readonly bytes: number
  readonly entry: AuditEntry | null
}

export async function listAudit(ctx: Context, _caller: Caller, input: ParsedInput<'listAudit'>) {
  const range: EventRange = {
    ...(await rangeOf(ctx.store, input)),
    types: auditTypes,
    ...(input.session ? { session: input.session } : {}),
  }
  const entries: AuditEntry[] = []
  const page = (next: Cursor | null) => ({ status: 200, body: { items: inLogOrder(range, entries), next } })
  const itemsMax = input.limit ?? limits.pageDefault
  let last: Cursor | null = null
  let scanned = 0
  let bytes = 0
  let entryBytes = 0
  for await (const found of scanAudited(ctx, input, range)) {
    // The store's clock never goes backwards, so no later event can match.
    if (range.newestFirst ? found.at < (input.from ?? 0) : found.at >= (input.to ?? Number.POSITIVE_INFINITY)) break
    bytes += found.bytes
    if (found.entry) entryBytes += found.bytes
    const full =
      entries.length >= itemsMax ||
      scanned >= limits.auditScanMax ||
      bytes > limits.auditScanMaxBytes ||
      entryBytes > limits.pageMaxBytes
    // Always take the first event, so that a reader makes progress even if a single event exceeds the limit.
    if (last !== null && full) return page(last)
    last = found.cursor
    scanned++
    if (found.entry) entries.push(found.entry)
  }
  return page(null)
}

/** Number of events read at once. Each may belong to a request of the maximum size. */
const batchMax = 4

/** Yields events oldest first, or newest first if `range.newestFirst` is set. A search may scan many events, so other work gets a turn of the event loop between batches. */
async function* scanAudited(ctx: Context, filter: Filter, range: EventRange): AsyncGenerator<ScannedEvent, void> {
  const needle = filter.q?.toLowerCase() ?? ''
  for (let remaining = range; ; ) {
    const events = await ctx.store.events({ ...remaining, limit: batchMax })
    yield* await Promise.all(events.map(event => scanEvent(ctx, filter, needle, event)))
    const last = events.at(-1)
    if (!last || events.length < batchMax) return
    remaining = remainingRange(range, last)
    await nextTurn()
  }
}

async function scanEvent(ctx: Context, filter: Filter, needle: string, event: StoredEvent): Promise<ScannedEvent> {
  const cursor = cursorOf(event)
  const noMatch = { cursor, at: event.at, bytes: eventBytes(event), entry: null }
  const { body } = event
  if (event.at < (filter.from ?? 0) || event.at >= (filter.to ?? Number.POSITIVE_INFINITY)) return noMatch
  // The body of an event whose session was deleted has the type `purged`.
  if (body.type === 'purged') return noMatch
  if (body.type !== 'request.resolved') return { ...noMatch, entry: await noticeEntry(ctx, event, filter, needle) }
  if (!event.session) return noMatch
  const { request, digest, resolution } = body
  if (filter.by && filter.by !== resolution.by) return noMatch
  if (filter.answer && filter.answer !== resolution.answer?.kind) return noMatch
  if (filter.person !== undefined && ![resolution.person, resolution.personId].includes(filter.person)) return noMatch
  const [row, session] = await Promise.all([ctx.store.get('request', request), ctx.store.get('session', event.session)])
  // The session was deleted after the event was read.
  if (!row || !session || !isInFolder(session, filter.folder)) return noMatch
  const value = toRequest(row)
  const { title, cwd, driver } = session
  const { delivery } = value
  const entry: AuditDecision = {
    kind: 'decision',
    cursor,
    at: event.at,
    session: event.session,
    request,
    digest,
    resolution: withEffective(row.ask, resolution),
    delivery,
    value,
    title,
    cwd,
    driver,
  }
  const bytes = noMatch.bytes + jsonBytes(value)
  return { ...noMatch, bytes, entry: needle === '' || entryContains(entry, session, needle) ? entry : null }
}

async function noticeEntry(
  ctx: Context,
  event: StoredEvent,
  { by, answer, person, folder, include }: Filter,
  needle: string,
): Promise<AuditEntry | null> {
  if (include !== 'notices' || by || answer || person !== undefined) return null
  if (needle !== '' && !jsonTexts(event.body).some(text => text.toLowerCase().includes(needle))) return null
  if (folder !== undefined) {
    const session = event.session === null ? undefined : await ctx.store.get('session', event.session)
    if (!session || !isInFolder(session, folder)) return null
  }
  return { kind: 'notice', cursor: cursorOf(event), at: event.at, session: event.session, event: toEvent(event) }
}

function isInFolder({ cwd }: SessionRow, folder: string | undefined): boolean {
  if (folder === undefined) return true
  const withoutSlash = folder.endsWith('/') ? folder.slice(0, -1) : folder
  return cwd === withoutSlash || cwd.startsWith(`${withoutSlash}/`)
}

function entryContains({ value, resolution }: AuditDecision, session: SessionRow, needle: string): boolean {
  const texts = [
    session.title,
    session.cwd,
    session.driver,
    resolution.person,
    resolution.rule,
    resolution.watcher?.name,
    resolution.reason,
    ...askTexts(value.ask),
    ...(resolution.answer ? answerTexts(resolution.answer) : []),
  ]
  return texts.some(text => text?.toLowerCase().includes(needle))
}

function askTexts(ask: Ask): (string | undefined)[] {
  switch (ask.kind) {
    case 'approval':
      return [ask.title, ask.tool, ask.description, ask.cwd, ask.plan, ...jsonTexts(ask.input)]
    case 'questions':
      return ask.questions.flatMap(question => [
        question.header,
        question.question,
        ...question.options.flatMap(option => [option.label, option.description]),
      ])
    case 'form':
      return [
        ask.title,
        ask.message,
        ask.url,
        ...Object.entries(ask.schema.properties).flatMap(([name, field]) => [name, field.title, field.description]),
      ]
  }
}

function answerTexts(answer: Answer): (string | undefined)[] {
  switch (answer.kind) {
    case 'allow':
      return [answer.note, ...jsonTexts(answer.comments), ...jsonTexts(answer.input)]
    case 'deny':
      return [answer.reason, ...jsonTexts(answer.comments)]
    case 'decline':
      return [answer.reason]
    case 'answers':
      return answer.answers.flatMap(({ chosen, other }) => [...chosen, other])
    case 'submit':
      return jsonTexts(answer.values)
  }
}

/** Returns all strings, numbers and booleans in a JSON value as text without JSON escapes. */
function jsonTexts(value: unknown): string[] {
  if (value === null || value === undefined) return []
  return typeof value === 'object' ? Object.values(value).flatMap(jsonTexts) : [String(value)]
}

/** The record: every resolution with its request and session as they stand now, filtered and searched (G10). It is a view of the log, and shows nothing that a person is not shown elsewhere. */
import { type Answer, type Ask, type AuditEntry, type Cursor, limits, type ParsedInput } from '@holdpoint/protocol'
import type { Context } from '../context.ts'
import type { Caller } from '../gateway.ts'
import { type EventRange, eventBytes, jsonBytes, remainingRange } from '../paging.ts'
import type { SessionRow } from '../rows.ts'
import type { StoredEvent } from '../store.ts'
import { toRequest } from '../wire-views.ts'
import { cursorOf, inOrder, rangeOf } from './events.ts'

type Filter = Pick<ParsedInput<'listAudit'>, 'by' | 'answer' | 'person' | 'q'>
/** A resolution that was looked at: its line where it fits, and what was read to know that. */
interface Looked {
  readonly cursor: Cursor
  readonly bytes: number
  readonly line: AuditEntry | null
}

export async function listAudit(ctx: Context, caller: Caller, input: ParsedInput<'listAudit'>) {
  const range: EventRange = {
    ...(await rangeOf(ctx.store, input)),
    types: ['request.resolved'],
    ...(input.session ? { session: input.session } : {}),
  }
  const lines: AuditEntry[] = []
  const page = (next: Cursor | null) => ({ status: 200, body: { items: inOrder(range, lines), next } })
  const itemsMax = input.limit ?? limits.pageDefault
  let last: Cursor | null = null
  let looked = 0
  let bytes = 0
  for await (const found of look(ctx, caller, input, range)) {
    bytes += found.bytes
    const full = lines.length >= itemsMax || looked >= limits.auditScanMax || bytes > limits.pageMaxBytes
    // The first is always taken: a reader comes on, however large one line is.
    if (last !== null && full) return page(last)
    last = found.cursor
    looked++
    if (found.line) lines.push(found.line)
  }
  return page(null)
}

/** Read together: no more than a page even where each request is as large as it can be. */
const batchMax = Math.floor(limits.pageMaxBytes / limits.bodyMaxBytes)

/** Resolutions in the order of the range. Between batches everything else in this process gets its turn: a search may look at many. */
async function* look(ctx: Context, caller: Caller, filter: Filter, range: EventRange): AsyncGenerator<Looked, void> {
  const wanted = filter.q?.toLowerCase() ?? ''
  for (let left = range; ; ) {
    const events = await ctx.store.events({ ...left, limit: batchMax })
    yield* await Promise.all(events.map(event => lookAt(ctx, caller, filter, wanted, event)))
    const last = events.at(-1)
    if (!last || events.length < batchMax) return
    left = remainingRange(range, last)
    await new Promise(resolve => setImmediate(resolve))
  }
}

async function lookAt(
  ctx: Context,
  caller: Caller,
  filter: Filter,
  wanted: string,
  event: StoredEvent,
): Promise<Looked> {
  const cursor = cursorOf(event)
  const missed = { cursor, bytes: eventBytes(event), line: null }
  const { body } = event
  // Of a deleted session the log keeps that something was resolved, and when: nothing that a line could say.
  if (body.type !== 'request.resolved' || !event.session) return missed
  const { request, digest, resolution } = body
  if (filter.by && filter.by !== resolution.by) return missed
  if (filter.answer && filter.answer !== resolution.answer?.kind) return missed
  if (filter.person !== undefined && filter.person !== resolution.person) return missed
  const [row, session] = await Promise.all([ctx.store.get('request', request), ctx.store.get('session', event.session)])
  // Deleted since the event was read.
  if (!row || !session) return missed
  const value = toRequest(row, caller)
  const { title } = session
  const { delivery } = value
  const line = { cursor, at: event.at, session: event.session, request, digest, resolution, delivery, value, title }
  const bytes = missed.bytes + jsonBytes(value)
  return { cursor, bytes, line: wanted === '' || says(line, session, wanted) ? line : null }
}

function says({ value, resolution }: AuditEntry, session: SessionRow, wanted: string): boolean {
  const words = [
    session.title,
    session.cwd,
    session.driver,
    resolution.person,
    resolution.rule,
    resolution.reason,
    ...asked(value.ask),
    ...(resolution.answer ? answered(resolution.answer) : []),
  ]
  return words.some(word => word?.toLowerCase().includes(wanted))
}

function asked(ask: Ask): (string | undefined)[] {
  switch (ask.kind) {
    case 'approval':
      return [ask.title, ask.tool, ask.description, ask.cwd, ask.plan, ...texts(ask.input)]
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

function answered(answer: Answer): (string | undefined)[] {
  switch (answer.kind) {
    case 'allow':
      return [answer.note, ...texts(answer.input)]
    case 'deny':
    case 'decline':
      return [answer.reason]
    case 'answers':
      return answer.answers.flatMap(({ chosen, other }) => [...chosen, other])
    case 'submit':
      return texts(answer.values)
  }
}

/** What stands in a JSON value, as people read it: not as it is escaped. */
function texts(value: unknown): string[] {
  if (value === null || value === undefined) return []
  return typeof value === 'object' ? Object.values(value).flatMap(texts) : [String(value)]
}

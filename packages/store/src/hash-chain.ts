/** The hash chain over the event log: links new events and verifies a log. */
import { hash as hashText, randomBytes } from 'node:crypto'
import type { Head, Store, StoredEvent } from '@holdpoint/engine'
import { type EventBody, type EventType, limits, type SessionId } from '@holdpoint/protocol'

const genesis = '0'.repeat(64)
/** Replaces the text of an event whose session was deleted. The event keeps the bodyHash of its original text. */
export const purgedText = JSON.stringify({ type: 'purged' } satisfies EventBody)

export function emptyHead(epoch: string): Head {
  return { seq: 0, hash: genesis, epoch, at: 0, rulesSeq: 0 }
}

export function newEpoch(): string {
  const letters = '0123456789abcdefghijklmnopqrstuv'
  return Array.from(randomBytes(8), byte => letters[byte & 31]).join('')
}

type Link = Pick<StoredEvent, 'seq' | 'epoch' | 'at' | 'session' | 'type' | 'bodyHash'>

function linkHash(previous: string, { seq, epoch, at, session, type, bodyHash }: Link): string {
  return hashText('sha256', `${previous}|${seq}|${epoch}|${at}|${session ?? ''}|${type}|${bodyHash}`)
}

export function linkEvent(head: Head, at: number, session: SessionId | null, body: EventBody): StoredEvent {
  const text = JSON.stringify(body)
  const bodyHash = hashText('sha256', text)
  const { epoch } = head
  const { type } = body
  const seq = head.seq + 1
  const hash = linkHash(head.hash, { seq, epoch, at, session, type, bodyHash })
  return { seq, epoch, at, session, type, body, text, bodyHash, hash }
}

/** An event as the SQL stores read it. */
export interface EventRecord {
  readonly seq: number
  readonly epoch: string
  readonly at: number
  readonly session: string | null
  readonly type: string
  readonly text: string
  readonly body_hash: string
  readonly hash: string
}
export function toStoredEvent(record: EventRecord): StoredEvent {
  const { seq, epoch, at, text, hash } = record
  return {
    seq,
    epoch,
    at,
    session: record.session as SessionId | null, // `linkEvent` stored this value from a SessionId
    type: record.type as EventType, // `linkEvent` stored this value from an EventType
    body: JSON.parse(text) as EventBody, // the text is the JSON of a body
    text,
    bodyHash: record.body_hash,
    hash,
  }
}

export type ChainReport =
  | { readonly ok: true; readonly events: number }
  | { readonly ok: false; readonly seq: number; readonly reason: string }

/** Verifies the whole log, and reports the first event that is missing, was changed, or does not match the hash of the previous event. `onEvent` is called with every valid event. */
export async function verifyChain(
  store: Pick<Store, 'head' | 'events'>,
  onEvent: (event: StoredEvent) => void = () => {},
): Promise<ChainReport> {
  const head = await store.head()
  const removals = new Removals()
  let previous = genesis
  let seq = 0
  while (seq < head.seq) {
    const page = await store.events({ after: seq, limit: limits.pageMax })
    if (page.length === 0) return { ok: false, seq: seq + 1, reason: 'the log ends before its head' }
    for (const event of page) {
      const reason = linkProblem(previous, seq + 1, event)
      if (reason) return { ok: false, seq: seq + 1, reason }
      removals.add(event)
      onEvent(event)
      seq = event.seq
      previous = event.hash
      if (seq === head.seq) break
    }
    // Let other work of the process run between pages.
    await new Promise(resolve => setImmediate(resolve))
  }
  if (previous !== head.hash) return { ok: false, seq, reason: 'the hash in the head of the log does not match' }
  const removed = removals.firstUnexplained()
  if (removed !== null)
    return { ok: false, seq: removed, reason: 'its body was removed, but its session was not deleted' }
  return { ok: true, events: seq }
}

function linkProblem(previous: string, seq: number, event: StoredEvent): string | null {
  if (event.seq !== seq) return 'an event is missing'
  if (event.text !== purgedText && hashText('sha256', event.text) !== event.bodyHash) return 'its body was changed'
  if (linkHash(previous, event) !== event.hash) return 'its hash does not match the previous event'
  return null
}

/** Finds events whose body was removed although no later event says that their session was deleted. */
class Removals {
  /** The removed events of each session that no event has explained yet, as their first and last seq. */
  readonly #unexplained = new Map<SessionId | null, { readonly first: number; readonly last: number }>()

  add({ seq, session, body }: StoredEvent): void {
    const range = this.#unexplained.get(session)
    if (body.type === 'purged') this.#unexplained.set(session, { first: range?.first ?? seq, last: seq })
    if (body.type !== 'session.deleted' || !range) return
    // Schema 3 did not record which part of the log was removed.
    const { first = 0, last = seq } = body
    if (first <= range.first && range.last <= last) this.#unexplained.delete(session)
  }

  firstUnexplained(): number | null {
    const firsts = [...this.#unexplained.values()].map(({ first }) => first)
    return firsts.length === 0 ? null : Math.min(...firsts)
  }
}

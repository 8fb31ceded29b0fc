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

/** Verifies the whole log, and reports the first event that is missing, was changed, or does not match the hash of the previous event. */
export async function verifyChain(store: Pick<Store, 'head' | 'events'>): Promise<ChainReport> {
  const head = await store.head()
  let previous = genesis
  let seq = 0
  while (seq < head.seq) {
    const page = await store.events({ after: seq, limit: limits.pageMax })
    if (page.length === 0) return { ok: false, seq: seq + 1, reason: 'the log ends before its head' }
    for (const event of page) {
      const reason = linkProblem(previous, seq + 1, event)
      if (reason) return { ok: false, seq: seq + 1, reason }
      seq = event.seq
      previous = event.hash
      if (seq === head.seq) break
    }
  }
  if (previous !== head.hash) return { ok: false, seq, reason: 'the hash in the head of the log does not match' }
  return { ok: true, events: seq }
}

function linkProblem(previous: string, seq: number, event: StoredEvent): string | null {
  if (event.seq !== seq) return 'an event is missing'
  if (event.text !== purgedText && hashText('sha256', event.text) !== event.bodyHash) return 'its body was changed'
  if (linkHash(previous, event) !== event.hash) return 'its hash does not match the previous event'
  return null
}

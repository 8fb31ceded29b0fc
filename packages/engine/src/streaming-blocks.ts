/** Holds blocks of text and tool input while they stream. Deltas are rate-limited and never stored; the finished block is stored as an event. */
import {
  type Clock,
  type Delta,
  limits,
  maskCredentials,
  type SessionId,
  type StreamingBlock,
  shownLength,
} from '@holdpoint/protocol'
import type { EphemeralFrame, SerializedFrame } from './gateway.ts'
import type { StoredEvent } from './store.ts'

export function ephemeralFrame(session: SessionId | null, frame: EphemeralFrame): SerializedFrame {
  return { cursor: null, session, json: JSON.stringify(frame) }
}

/** A block, and the end of its text that is not shown yet because it may be the start of one of Holdpoint's credentials. */
interface HeldBlock {
  readonly shown: StreamingBlock
  readonly held: string
}

export class StreamingBlocks {
  readonly #clock: Clock
  readonly #sendFrame: (frame: SerializedFrame) => void
  readonly #blocks = new Map<SessionId, Map<string, HeldBlock>>()
  /** Deltas not sent yet, merged per block. A session has an entry here while its send timer runs. */
  readonly #unsent = new Map<SessionId, Map<string, Delta>>()

  constructor(clock: Clock, send: (frame: SerializedFrame) => void) {
    this.#clock = clock
    this.#sendFrame = send
  }

  add(session: SessionId, delta: Delta): void {
    const blocks = this.#blocks.get(session) ?? new Map<string, HeldBlock>()
    const known = blocks.get(delta.block)
    if (!known && blocks.size >= limits.blocksPerSessionMax) return
    const newPart = known ? newPartOf(known, delta) : delta
    if (!newPart) return
    const { offset, text, ...rest } = newPart
    const follows = known && offset === endOf(known)
    if (follows && known.shown.text.length + text.length > limits.blockMaxBytes) return
    // If earlier deltas are missing (lost, or sent before this gateway started), keep only the new part. The finished block will contain the whole text.
    const before = follows ? known : { shown: { ...rest, session, offset, text: '' }, held: '' }
    const all = before.held + text
    const length = shownLength(all)
    const { value: safe } = maskCredentials(all.slice(0, length))
    blocks.set(delta.block, {
      shown: { ...before.shown, text: before.shown.text + safe },
      held: all.slice(length),
    })
    this.#blocks.set(session, blocks)
    if (safe !== '')
      this.#queue(session, { ...newPart, offset: before.shown.offset + before.shown.text.length, text: safe })
  }
  all(session?: SessionId): StreamingBlock[] {
    const sessions = session ? [this.#blocks.get(session)] : [...this.#blocks.values()]
    return sessions.flatMap(blocks => [...(blocks?.values() ?? [])].map(({ shown }) => shown))
  }
  /** Returns the streaming messages whose text is known from the first character. Only these can be stored as partial messages. */
  partialMessages(session: SessionId): StreamingBlock[] {
    return this.all(session).filter(block => block.type === 'message.delta' && block.offset === 0)
  }
  /** Sends unsent deltas when their block is finished or a request is opened, and removes blocks that are finished or will never be finished. */
  onEvent({ session, body }: StoredEvent): void {
    if (session === null) return
    switch (body.type) {
      case 'message.added':
      case 'tool.started':
      case 'tool.finished': {
        this.#sendUnsent(session, body.block)
        const blocks = this.#blocks.get(session)
        blocks?.delete(body.block)
        if (blocks?.size === 0) this.#blocks.delete(session)
        return
      }
      case 'request.opened':
        for (const block of [...(this.#unsent.get(session)?.keys() ?? [])]) this.#sendUnsent(session, block)
        return
      case 'session.changed':
        if (body.value.state === 'parked' || body.value.state === 'disconnected') this.#clear(session)
        return
      case 'turn.finished':
      case 'session.ended':
      case 'session.deleted':
        this.#clear(session)
    }
  }

  #clear(session: SessionId): void {
    this.#blocks.delete(session)
    this.#unsent.get(session)?.clear()
  }
  #queue(session: SessionId, delta: Delta): void {
    const unsent = this.#unsent.get(session)
    const before = unsent?.get(delta.block)
    const follows = before && before.type === delta.type && delta.offset === before.offset + before.text.length
    const next = follows ? { ...before, text: before.text + delta.text } : delta
    if (unsent) unsent.set(delta.block, next)
    else {
      this.#unsent.set(session, new Map([[delta.block, next]]))
      this.#scheduleNext(session)
    }
  }
  /** Sends the deltas of one block per interval, so that the frame rate of a session is limited however many blocks stream at once. */
  #scheduleNext(session: SessionId): void {
    const sendNext = () => {
      const [block] = this.#unsent.get(session)?.keys() ?? []
      if (block === undefined) {
        this.#unsent.delete(session)
        return
      }
      this.#sendUnsent(session, block)
      this.#scheduleNext(session)
    }
    this.#clock.after(limits.deltaIntervalMs, sendNext, { background: true })
  }
  #sendUnsent(session: SessionId, block: string): void {
    const unsent = this.#unsent.get(session)
    const delta = unsent?.get(block)
    if (!delta) return
    unsent?.delete(block)
    this.#sendFrame(ephemeralFrame(session, { frame: 'delta', delta: { ...delta, session } }))
  }
}

/** Returns the part of a delta that is new, or null if all of it is already known. Deltas can overlap, because a client repeats a call whose reply was lost. */
function newPartOf(known: HeldBlock, delta: Delta): Delta | null {
  const alreadySeen = endOf(known) - delta.offset
  if (alreadySeen <= 0) return delta
  if (alreadySeen >= delta.text.length) return null
  return { ...delta, offset: delta.offset + alreadySeen, text: delta.text.slice(alreadySeen) }
}

/** Returns the position after the last known character, including characters that are not shown. */
function endOf({ shown, held }: HeldBlock): number {
  return shown.offset + shown.text.length + held.length
}

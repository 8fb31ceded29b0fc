/** Blocks under way: text and tool input as they stream, shown at most so often, never kept. The finished block is the event. */
import { type Clock, type Delta, limits, type SessionId, type StreamingBlock } from '@holdpoint/protocol'
import type { EphemeralFrame, SerializedFrame } from './gateway.ts'
import type { StoredEvent } from './store.ts'

export function ephemeralFrame(session: SessionId | null, frame: EphemeralFrame): SerializedFrame {
  return { cursor: null, session, json: JSON.stringify(frame) }
}

export class StreamingBlocks {
  readonly #clock: Clock
  readonly #send: (frame: SerializedFrame) => void
  readonly #blocks = new Map<SessionId, Map<string, StreamingBlock>>()
  /** What has not been shown yet, one delta per block; a session stands here as long as its next moment to show something is set. */
  readonly #unsent = new Map<SessionId, Map<string, Delta>>()

  constructor(clock: Clock, send: (frame: SerializedFrame) => void) {
    this.#clock = clock
    this.#send = send
  }

  add(session: SessionId, delta: Delta): void {
    const blocks = this.#blocks.get(session) ?? new Map<string, StreamingBlock>()
    const known = blocks.get(delta.block)
    if (!known && blocks.size >= limits.blocksPerSessionMax) return
    const fresh = known ? unseenOf(known, delta) : delta
    if (!fresh) return
    const { offset, text, ...rest } = fresh
    const follows = known && offset === known.offset + known.text.length
    if (follows && known.text.length + text.length > limits.blockMaxBytes) return
    // What came before this gateway did, or went missing, is not known here; the finished block will have it.
    blocks.set(delta.block, follows ? { ...known, text: known.text + text } : { ...rest, session, offset, text })
    this.#blocks.set(session, blocks)
    this.#queue(session, fresh)
  }
  all(session?: SessionId): StreamingBlock[] {
    if (session) return [...(this.#blocks.get(session)?.values() ?? [])]
    return [...this.#blocks.values()].flatMap(blocks => [...blocks.values()])
  }
  /** Text that would be lost if the agent said no more of it: kept as a partial block when an ask, an interrupt or an end comes. */
  partials(session: SessionId): StreamingBlock[] {
    return this.all(session).filter(block => block.type === 'message.delta' && block.offset === 0)
  }
  /** A finished block replaces what was streamed of it; what nobody will finish any more is forgotten. */
  see({ session, body }: StoredEvent): void {
    if (session === null) return
    switch (body.type) {
      case 'message.added':
      case 'tool.started':
      case 'tool.finished': {
        this.#show(session, body.block)
        const blocks = this.#blocks.get(session)
        blocks?.delete(body.block)
        if (blocks?.size === 0) this.#blocks.delete(session)
        return
      }
      case 'request.opened':
        for (const block of [...(this.#unsent.get(session)?.keys() ?? [])]) this.#show(session, block)
        return
      case 'session.changed':
        if (body.value.state === 'parked') this.#forget(session)
        return
      case 'turn.finished':
      case 'session.ended':
      case 'session.deleted':
        this.#forget(session)
    }
  }

  #forget(session: SessionId): void {
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
      this.#setMoment(session)
    }
  }
  /** One block at a time, in turn: a session shows at most so many frames a second, however many agents stream in it. */
  #setMoment(session: SessionId): void {
    const sendNext = () => {
      const [block] = this.#unsent.get(session)?.keys() ?? []
      if (block === undefined) {
        this.#unsent.delete(session)
        return
      }
      this.#show(session, block)
      this.#setMoment(session)
    }
    this.#clock.after(limits.deltaIntervalMs, sendNext, { background: true })
  }
  #show(session: SessionId, block: string): void {
    const unsent = this.#unsent.get(session)
    const delta = unsent?.get(block)
    if (!delta) return
    unsent?.delete(block)
    this.#send(ephemeralFrame(session, { frame: 'delta', delta: { ...delta, session } }))
  }
}

/** What of a delta has not been heard before: calls are repeated where a reply was lost. */
function unseenOf(known: StreamingBlock, delta: Delta): Delta | null {
  const heard = known.offset + known.text.length - delta.offset
  if (heard <= 0) return delta
  if (heard >= delta.text.length) return null
  return { ...delta, offset: delta.offset + heard, text: delta.text.slice(heard) }
}

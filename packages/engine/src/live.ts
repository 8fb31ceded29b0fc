/** Blocks under way: text and tool input as they stream, shown at most so often, never kept. The finished block is the event. */
import { type Delta, type LiveBlock, limits, type SessionId } from '@holdpoint/protocol'
import type { Clock, LiveFrame, Momentary } from './desk.ts'
import type { StoredEvent } from './port.ts'

export function momentary(session: SessionId | null, frame: Momentary): LiveFrame {
  return { cursor: null, session, json: JSON.stringify(frame) }
}

export class Live {
  readonly #clock: Clock
  readonly #send: (frame: LiveFrame) => void
  readonly #blocks = new Map<SessionId, Map<string, LiveBlock>>()
  readonly #unsent = new Map<SessionId, Delta[]>()

  constructor(clock: Clock, send: (frame: LiveFrame) => void) {
    this.#clock = clock
    this.#send = send
  }

  add(session: SessionId, delta: Delta): void {
    const blocks = this.#blocks.get(session) ?? new Map<string, LiveBlock>()
    const known = blocks.get(delta.block)
    if (!known && blocks.size >= limits.blocksPerSessionMax) return
    if (known && known.text.length + delta.text.length > limits.blockMaxBytes) return
    const { offset, text, ...rest } = delta
    // What came before this gateway did is not known here; the finished block will have it.
    blocks.set(delta.block, known ? { ...known, text: known.text + text } : { ...rest, session, offset, text })
    this.#blocks.set(session, blocks)
    this.#queue(session, delta)
  }
  all(session?: SessionId): LiveBlock[] {
    if (session) return [...(this.#blocks.get(session)?.values() ?? [])]
    return [...this.#blocks.values()].flatMap(blocks => [...blocks.values()])
  }
  /** Text that would be lost if the agent said no more of it: kept as a partial block when an ask, an interrupt or an end comes. */
  partials(session: SessionId): LiveBlock[] {
    return this.all(session).filter(block => block.type === 'message.delta' && block.offset === 0)
  }
  /** A finished block replaces what was streamed of it. */
  see({ session, body }: StoredEvent): void {
    if (session === null) return
    if (body.type === 'message.added' || body.type === 'tool.started' || body.type === 'tool.finished') {
      this.#flush(session)
      const blocks = this.#blocks.get(session)
      blocks?.delete(body.block)
      if (blocks?.size === 0) this.#blocks.delete(session)
    } else if (body.type === 'session.ended' || body.type === 'session.deleted') this.#blocks.delete(session)
  }

  #queue(session: SessionId, delta: Delta): void {
    const unsent = this.#unsent.get(session)
    if (!unsent) {
      this.#unsent.set(session, [delta])
      this.#clock.after(limits.deltaIntervalMs, () => this.#flush(session))
      return
    }
    const last = unsent.at(-1)
    if (last && last.block === delta.block && last.type === delta.type)
      unsent[unsent.length - 1] = { ...last, text: last.text + delta.text }
    else unsent.push(delta)
  }
  #flush(session: SessionId): void {
    const unsent = this.#unsent.get(session)
    this.#unsent.delete(session)
    for (const delta of unsent ?? []) this.#send(momentary(session, { frame: 'delta', delta: { ...delta, session } }))
  }
}

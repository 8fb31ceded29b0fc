/** The list of what waits. Cards keep their nodes and their order; nothing leaves while that would move what a pointer rests on. */
import type { InboxSnapshot } from '@holdpoint/client'
import { Fault, type Request, type RequestId, type SessionId } from '@holdpoint/protocol'
import { Card, type SendAnswer } from './card.ts'
import { arrange, el, setText, underPointer } from './dom.ts'
import type { Receipt } from './receipt.ts'

const receiptsKept = 50

export interface CardsOptions {
  readonly send: SendAnswer
  readonly fetchRequest: (id: RequestId) => Promise<Request>
}

export class Cards {
  readonly root = el('section.cards', { ariaLabel: 'Waiting for you' })
  readonly receipts = el('ul.receipts', { ariaLabel: 'Lately resolved' })
  /** Said aloud where someone cannot see it. */
  readonly news = el('p.offscreen', { ariaLive: 'polite' })
  readonly #options: CardsOptions
  readonly #cards = new Map<RequestId, Card>()
  readonly #receipts = new Map<RequestId, { receipt: Receipt; open: boolean }>()
  readonly #fetching = new Set<RequestId>()
  #snapshot: InboxSnapshot | null = null
  #session: SessionId | null = null

  constructor(options: CardsOptions) {
    this.#options = options
    this.root.addEventListener('pointerleave', () => this.#putAway())
    setInterval(() => this.#tick(), 1000)
  }

  /** How many of those shown wait. */
  render(snapshot: InboxSnapshot, session: SessionId | null): number {
    const first = this.#snapshot === null
    this.#snapshot = snapshot
    const live = snapshot.status === 'live'
    this.#follow(snapshot, live)
    this.#choose(session)
    this.#putAway()
    const fresh = snapshot.order.filter(id => !this.#cards.has(id)).map(id => this.#add(id, snapshot))
    if (fresh.length > 0) {
      const sorted = [...this.#cards.values()].sort((a, b) => a.request.openedAt - b.request.openedAt)
      const roots = sorted.map(card => card.root)
      arrange(this.root, roots)
      if (!first) setText(this.news, fresh.length === 1 ? 'A new request waits.' : `${fresh.length} new requests wait.`)
      // Beside a conversation the list grows upwards, so what was under the pointer has moved.
      if (this.#session) this.#quiet()
    }
    this.#choose(session)
    this.#tick()
    return [...this.#cards.values()].filter(card => !card.receipt && !card.root.hidden).length
  }

  /** What is here already, as it stands now. */
  #follow(snapshot: InboxSnapshot, live: boolean): void {
    for (const [id, card] of this.#cards) {
      const request = snapshot.requests.get(id)
      card.update(request ?? card.request, snapshot.answering.get(id) ?? [], live)
      if (!request && !card.receipt && snapshot.complete && live) void this.#lookUp(card.request)
    }
    for (const [id, { receipt, open }] of this.#receipts) {
      const request = snapshot.requests.get(id)
      if (request) this.#receipts.set(id, { receipt, open: receipt.update(request) })
      else if (open && snapshot.complete && live) void this.#lookUpReceipt(id, receipt)
    }
  }

  #add(id: RequestId, snapshot: InboxSnapshot): Card {
    const request = snapshot.requests.get(id) as Request // `order` names requests of the same snapshot
    const card = new Card(request, snapshot.sessions.get(request.session), this.#options.send)
    this.#cards.set(id, card)
    return card
  }

  #choose(session: SessionId | null): void {
    const turned = this.#session !== session
    this.#session = session
    for (const card of this.#cards.values()) card.root.hidden = session !== null && card.request.session !== session
    if (turned) this.#quiet()
  }

  #quiet(): void {
    for (const card of this.#cards.values()) card.changed()
  }

  /** What is resolved leaves the list, but not while that would move something else that a pointer may be about to press. */
  #putAway(): void {
    const all = [...this.#cards.values()]
    if (underPointer(this.root) && all.some(card => !card.receipt && !card.root.hidden)) return
    const done = all.filter(card => card.receipt)
    if (done.length === 0) return
    const hadFocus = done.some(card => card.root.contains(document.activeElement))
    for (const card of done) {
      const { receipt, request } = card
      this.#cards.delete(request.id)
      card.root.remove()
      if (receipt) this.#keep(request, receipt)
    }
    this.#quiet()
    if (hadFocus) [...this.#cards.values()].find(card => !card.root.hidden)?.root.focus({ preventScroll: true })
  }

  #keep(request: Request, receipt: Receipt): void {
    this.receipts.prepend(receipt.root)
    this.#receipts.set(request.id, { receipt, open: receipt.update(request) })
    for (const [oldest, kept] of this.#receipts) {
      if (this.#receipts.size <= receiptsKept) return
      kept.receipt.root.remove()
      this.#receipts.delete(oldest)
    }
  }

  /** After a gap the inbox knows only what waits; what became of the others is asked for. */
  async #lookUp({ id }: Request): Promise<void> {
    const request = await this.#ask(id)
    const card = this.#cards.get(id)
    if (request && card) card.update(request, [], true)
    else if (request === null && card) {
      this.#cards.delete(id)
      card.root.remove()
      this.#quiet()
    }
    this.#putAway()
  }
  async #lookUpReceipt(id: RequestId, receipt: Receipt): Promise<void> {
    const request = await this.#ask(id)
    if (request !== undefined) this.#receipts.set(id, { receipt, open: request ? receipt.update(request) : false })
  }
  /** Null where it is gone for good; undefined where nobody could say, or it is being asked already. */
  async #ask(id: RequestId): Promise<Request | null | undefined> {
    if (this.#fetching.has(id)) return undefined
    this.#fetching.add(id)
    try {
      return await this.#options.fetchRequest(id)
    } catch (error) {
      return error instanceof Fault && error.code === 'not_found' ? null : undefined
    } finally {
      this.#fetching.delete(id)
    }
  }

  #tick(): void {
    if (!this.#snapshot) return
    const now = Date.now() + this.#snapshot.clockSkewMs
    for (const card of this.#cards.values()) card.tick(now)
  }
}

/** Keeps one request's draft: in the tab at once, at the gateway a moment later, from where a person's other devices follow it; and knows who else is answering. */
import { type Call, Fault, type Frame, limits, type RequestId } from '@holdpoint/protocol'
import { type AnswerDraft, changeDraft, decodeDraft, encodeDraft, isEmptyDraft, sameDraft } from './draft.ts'
import { type DraftStorage, type OtherDraft, readLocalDraft, removeLocalDraft, writeLocalDraft } from './local-draft.ts'

export interface DraftSnapshot {
  readonly draft: AnswerDraft
  /** People beside the reader who have begun an answer. */
  readonly others: readonly string[]
  /** What the reader may use instead; null where there is nothing that differs. */
  readonly other: OtherDraft | null
  /** How often the reader has done so. */
  readonly swaps: number
  /** The gateway takes none of this length: it is here and nowhere else. */
  readonly tooLong: boolean
}
export interface DraftSyncOptions {
  readonly call: Call
  readonly id: RequestId
  readonly me: string
  readonly frames: (listener: (frame: Frame) => void) => () => void
  readonly shelf: DraftStorage
  /** The gateway's time. */
  readonly now: () => number
  /** What is shown has changed by itself. */
  readonly onFollow?: () => void
  readonly waitMs?: number
}

export class DraftSync {
  readonly #options: DraftSyncOptions
  readonly #listeners = new Set<() => void>()
  #unwatch: () => void = () => {}
  #snapshot: DraftSnapshot
  /** Of what is shown: see KeptDraft. */
  #at: number
  #savedAt: number
  #touched: boolean
  /** It stems from before a reload, and nothing was typed since. */
  #restored: boolean
  #dirty: boolean
  /** Something else was begun elsewhere, or may have been: nothing goes over it until the reader has gone on with this. */
  #waits: boolean
  /** What the gateway has, as far as is known here; undefined: it has not been asked. */
  #known: AnswerDraft | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** An answer is on its way, or was given: nothing is sent meanwhile. */
  #held = false
  #under = new AbortController()
  /** Drafts go and come one after another, so that what comes is either what went last or another device's. */
  #turns: Promise<void> = Promise.resolve()

  constructor(options: DraftSyncOptions) {
    this.#options = options
    const kept = readLocalDraft(options.shelf, options.me, options.id)
    this.#at = kept.at
    this.#savedAt = kept.savedAt
    this.#touched = this.#restored = this.#waits = kept.touched
    this.#dirty = kept.touched && kept.at !== kept.savedAt
    this.#snapshot = { draft: kept.draft, others: [], other: kept.other, swaps: 0, tooLong: false }
  }

  /** Begins to listen, and fetches what is kept. */
  open(): void {
    this.#unwatch = this.#options.frames(frame => this.#hear(frame))
    this.#fetch()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  readonly getSnapshot = (): DraftSnapshot => this.#snapshot

  change(change: AnswerDraft): void {
    const draft = changeDraft(this.#snapshot.draft, change)
    this.#restored = this.#waits = false
    this.#show({ draft }, { touched: !isEmptyDraft(draft), at: this.#options.now() })
    this.#send()
  }

  /** The other beginning takes the place of this one. */
  takeOther(): void {
    const { other, swaps } = this.#snapshot
    if (!other) return
    this.#restored = this.#waits = false
    const next = { draft: other.draft, other: null, swaps: swaps + 1 }
    this.#show(next, { touched: other.where === 'here', at: this.#options.now() })
    this.#send()
  }
  /** The other one is let go, there too. */
  keepMine(): void {
    this.#restored = this.#waits = false
    this.#show({ other: null }, { touched: !isEmptyDraft(this.#snapshot.draft), at: this.#options.now() })
    this.#send()
  }

  /** What is not kept at the gateway yet goes there now. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#inTurn(() => this.#save())
  }
  /** The page may be gone in a moment: nothing is waited for. */
  leave(): void {
    if (!this.#dirty || this.#held) return
    this.#cut()
    void this.#save()
  }

  /** A draft that reached the gateway behind its answer would be refused: none goes out while an answer does. */
  hold(): void {
    this.#held = true
    clearTimeout(this.#timer)
    this.#under.abort()
  }
  /** The answer did not arrive. */
  release(): void {
    this.#held = false
    this.#cut()
    this.#fetch()
    void this.flush()
  }

  close(): void {
    this.#unwatch()
    void this.flush()
  }

  #hear(frame: Frame): void {
    const { id, me, shelf } = this.#options
    if (frame.frame === 'hello') this.#fetch()
    // Heard here first: a card that goes because of it must not send its draft behind it.
    if (frame.frame === 'event' && frame.event.type === 'request.resolved' && frame.event.request === id) {
      this.hold()
      if (frame.event.resolution.person === me) removeLocalDraft(shelf, me, id)
    }
    if (frame.frame !== 'answering' || frame.request !== id) return
    if (frame.person === me) this.#fetch()
    else {
      const others = this.#snapshot.others.filter(person => person !== frame.person)
      this.#tell({ others: frame.active ? [...others, frame.person] : others })
    }
  }

  #fetch(): void {
    void this.#inTurn(() => this.#load())
  }
  async #load(): Promise<void> {
    if (this.#held) return
    const { call, id } = this.#options
    // Out of reach, or gone: what is here stands, and the next greeting asks again.
    const got = await call('getDraft', { id }).catch(() => null)
    if (!got || this.#held) return
    this.#tell({ others: got.others })
    this.#meet(decodeDraft(got.draft?.draft), got.draft?.at ?? 0)
    await this.#save()
  }

  /** What the gateway has: this tab's own echo, or another device's, which a card that nobody has touched here follows. */
  #meet(theirs: AnswerDraft, at: number): void {
    const first = this.#known === undefined
    const ours = this.#known ? sameDraft(theirs, this.#known) : this.#dirty && at > 0 && at === this.#savedAt
    this.#known = theirs
    if (first || !ours) this.#waits = false
    if (ours) return
    // What was all sent from here and is another there was sent from elsewhere since.
    const newer = this.#restored && (!this.#dirty || at > this.#at)
    if (sameDraft(theirs, this.#snapshot.draft)) this.#agree(at, first)
    else if (!this.#touched || newer) this.#follow(theirs, at)
    else this.#offer(theirs)
  }
  #offer(theirs: AnswerDraft): void {
    const { other } = this.#snapshot
    const before = other?.where === 'here' ? other : null
    this.#waits = !isEmptyDraft(theirs)
    this.#tell({ other: this.#waits ? { draft: theirs, where: 'there' } : before })
    this.#keep()
  }
  /** Another device has come to say the same; what it said before is its own to let go. After a reload it is not known who has. */
  #agree(at: number, first: boolean): void {
    this.#dirty = false
    this.#at = this.#savedAt = at
    if (!first && this.#snapshot.other?.where === 'there') this.#tell({ other: null })
    this.#keep()
  }
  #follow(theirs: AnswerDraft, at: number): void {
    const { draft, other } = this.#snapshot
    const mine: OtherDraft | null = this.#touched ? { draft, where: 'here' } : other
    const offered = mine?.where === 'here' && !sameDraft(mine.draft, theirs) ? mine : null
    this.#restored = false
    this.#savedAt = at
    this.#show({ draft: theirs, other: offered }, { touched: false, at })
    this.#options.onFollow?.()
  }

  #show(change: Partial<DraftSnapshot>, { touched, at }: { readonly touched: boolean; readonly at: number }): void {
    this.#touched = touched
    this.#at = at
    this.#tell(change)
    this.#dirty = this.#differs()
    this.#keep()
  }
  #differs(): boolean {
    return this.#known === undefined || !sameDraft(this.#snapshot.draft, this.#known)
  }

  /** While somebody types it goes now and then, not only once they stop: another device follows. */
  #send(): void {
    this.#timer ??= setTimeout(() => void this.flush(), this.#options.waitMs ?? 400)
  }

  async #save(): Promise<void> {
    if (!this.#dirty || this.#held || this.#waits) return
    const { call, id } = this.#options
    const { draft } = this.#snapshot
    const empty = isEmptyDraft(draft)
    // What was never seen is not taken away.
    if (empty && this.#known === undefined) return
    const spelt = encodeDraft(draft)
    const tooLong = JSON.stringify(spelt).length > limits.draftMaxBytes
    if (tooLong !== this.#snapshot.tooLong) this.#tell({ tooLong })
    if (tooLong) return
    const options = { signal: this.#under.signal, keepalive: true }
    this.#dirty = false
    try {
      if (!empty) this.#savedAt = (await call('putDraft', { id, draft: spelt }, options)).at
      else if (this.#known && !isEmptyDraft(this.#known)) await call('deleteDraft', { id }, options)
      this.#known = draft
      this.#dirty = this.#differs()
      if (!this.#dirty) this.#at = this.#savedAt
      this.#keep()
    } catch (error) {
      // Resolved: what is here is all there can be.
      if (!(error instanceof Fault && error.status < 500 && error.code !== 'too_many')) this.#dirty = true
    }
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    this.#turns = this.#turns.then(step)
    return this.#turns
  }
  #cut(): void {
    this.#under.abort()
    this.#under = new AbortController()
  }
  #keep(): void {
    const { shelf, me, id } = this.#options
    const { draft, other } = this.#snapshot
    writeLocalDraft(shelf, me, id, { draft, other, at: this.#at, savedAt: this.#savedAt, touched: this.#touched })
  }
  #tell(change: Partial<DraftSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change }
    for (const listener of this.#listeners) listener()
  }
}

/** Keeps one request's draft: in the tab at once, at the gateway a moment later, where another device finds it; and knows who else is answering. */
import { type Call, Fault, type Frame, type RequestId } from '@holdpoint/protocol'
import { type AnswerDraft, changeDraft, isEmptyDraft, readDraft, spellDraft } from './draft.ts'

export interface DraftSnapshot {
  readonly draft: AnswerDraft
  /** People beside the reader who have begun an answer. */
  readonly others: readonly string[]
}
export interface DraftKeeperOptions {
  readonly call: Call
  readonly id: RequestId
  readonly me: string
  readonly frames: (listener: (frame: Frame) => void) => () => void
  /** What outlives a reload of the tab, such as sessionStorage: the first line of defence while the gateway is away. */
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  readonly waitMs?: number
}

export class DraftKeeper {
  readonly #options: DraftKeeperOptions
  readonly #listeners = new Set<() => void>()
  #unwatch: () => void = () => {}
  #snapshot: DraftSnapshot
  #timer: ReturnType<typeof setTimeout> | undefined
  #dirty: boolean
  #kept = false
  /** An answer is on its way, or was given: nothing is sent meanwhile. */
  #held = false
  #under = new AbortController()
  #saving: Promise<void> = Promise.resolve()

  constructor(options: DraftKeeperOptions) {
    this.#options = options
    const local = this.#readLocal()
    this.#dirty = !isEmptyDraft(local)
    this.#snapshot = { draft: local, others: [] }
  }

  /** Begins to listen, and fetches what is kept. */
  open(): void {
    this.#unwatch = this.#options.frames(frame => this.#hear(frame))
    void this.#load()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  readonly getSnapshot = (): DraftSnapshot => this.#snapshot

  change(change: AnswerDraft): void {
    const draft = changeDraft(this.#snapshot.draft, change)
    this.#dirty = true
    this.#writeLocal(draft)
    this.#tell({ draft })
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.flush(), this.#options.waitMs ?? 400)
  }

  /** What is not kept at the gateway yet goes there now, one after another. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#saving = this.#saving.then(() => this.#save())
    return this.#saving
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
    this.#under = new AbortController()
    void this.flush()
  }
  /** It is answered: there is nothing left to draft, here or there. */
  finish(): void {
    this.hold()
    this.#clearLocal()
  }

  close(): void {
    this.#unwatch()
    void this.flush()
  }

  async #load(): Promise<void> {
    const { call, id } = this.#options
    try {
      const { draft, others } = await call('getDraft', { id })
      this.#kept = draft !== null
      this.#tell({ others, ...(!this.#dirty && { draft: readDraft(draft?.draft) }) })
      if (this.#dirty) await this.flush()
    } catch {
      // Out of reach, or gone: the tab's own copy stands, and the next greeting asks again.
    }
  }

  async #save(): Promise<void> {
    if (!this.#dirty || this.#held) return
    const { call, id } = this.#options
    const { draft } = this.#snapshot
    const { signal } = this.#under
    this.#dirty = false
    try {
      if (!isEmptyDraft(draft)) await call('putDraft', { id, draft: spellDraft(draft) }, { signal })
      else if (this.#kept) await call('deleteDraft', { id }, { signal })
      this.#kept = !isEmptyDraft(draft)
      if (!this.#dirty) this.#clearLocal()
    } catch (error) {
      // Too large for the gateway, or resolved: the tab's copy is all there can be.
      if (!(error instanceof Fault && error.status < 500)) this.#dirty = true
    }
  }

  #hear(frame: Frame): void {
    if (frame.frame === 'hello') void this.#load()
    // Heard here first: a card that goes because of it must not send its draft behind it.
    if (frame.frame === 'event' && frame.event.type === 'request.resolved' && frame.event.request === this.#options.id)
      this.finish()
    if (frame.frame !== 'answering' || frame.request !== this.#options.id || frame.person === this.#options.me) return
    const others = this.#snapshot.others.filter(person => person !== frame.person)
    this.#tell({ others: frame.active ? [...others, frame.person] : others })
  }

  #tell(change: Partial<DraftSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change }
    for (const listener of this.#listeners) listener()
  }

  get #key(): string {
    return `draft/${this.#options.id}`
  }
  /** A browser may refuse storage; then there is none. */
  #readLocal(): AnswerDraft {
    try {
      return readDraft(JSON.parse(this.#options.storage.getItem(this.#key) ?? 'null'))
    } catch {
      return {}
    }
  }
  #writeLocal(draft: AnswerDraft): void {
    try {
      this.#options.storage.setItem(this.#key, JSON.stringify(spellDraft(draft)))
    } catch {}
  }
  #clearLocal(): void {
    try {
      this.#options.storage.removeItem(this.#key)
    } catch {}
  }
}

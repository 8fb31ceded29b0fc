/** Synchronizes the draft of one answer between a person's devices. Each change is stored on this device at once and at the gateway shortly after. Also tracks who else is answering. */
import { type Call, Fault, type Frame, limits, type Person, type RequestId } from '@holdpoint/protocol'
import { type AnswerDraft, changeDraft, decodeDraft, encodeDraft, isEmptyDraft, sameDraft } from './draft.ts'
import { type DraftStorage, type OtherDraft, readLocalDraft, removeLocalDraft, writeLocalDraft } from './local-draft.ts'
import { createObservableStore, type ObservableStore } from './observable-store.ts'

export interface DraftSnapshot {
  readonly draft: AnswerDraft
  /** Other people who have started an answer. */
  readonly others: readonly Person[]
  /** A different draft of the same person, which the person can choose instead of `draft`. */
  readonly other: OtherDraft | null
  /** How often the person has replaced the draft with the other draft. */
  readonly swapCount: number
  /** Whether the draft is too long for the gateway, so that it is stored only on this device. */
  readonly tooLong: boolean
}
export interface DraftSyncOptions {
  readonly call: Call
  readonly id: RequestId
  /** The person's own id. */
  readonly me: string
  readonly frames: (listener: (frame: Frame) => void) => () => void
  readonly storage: DraftStorage
  /** Returns the gateway's current time. */
  readonly now: () => number
  /** Called when a draft from another device has replaced the shown draft. */
  readonly onRemoteChange?: () => void
  readonly saveDelayMs?: number
}

/**
 * The shown draft is in one of these states:
 *
 * | state | fields | a different draft from the gateway … |
 * |---|---|---|
 * | not typed here | `typedHere` false | replaces the shown draft |
 * | restored after a reload | `restored` | replaces the shown draft if the gateway's draft is newer; the shown draft is then offered as `other` |
 * | typed here | `typedHere` | is offered as `other` |
 * | conflict | `conflict` | is offered as `other`; the shown draft is not saved at the gateway until the person chooses or types |
 */
export class DraftSync {
  readonly #options: DraftSyncOptions
  readonly #store: ObservableStore<DraftSnapshot>
  #unsubscribe: () => void = () => {}
  /** `changedAt`, `savedAt` and `typedHere` are stored with the draft (see `LocalDraft`). */
  #changedAt: number
  #savedAt: number
  #typedHere: boolean
  /** Whether the shown draft was restored after a reload and neither the person nor another device has replaced or changed it since. */
  #restored: boolean
  /** Whether the draft differs from the gateway's draft, or the gateway's draft is not known yet. */
  #unsaved: boolean
  /** Whether the gateway has, or may have, a different draft that saving would overwrite. */
  #conflict: boolean
  /** The last draft that was loaded from or saved at the gateway; undefined before the first load. */
  #gatewayDraft: AnswerDraft | undefined
  #saveTimer: ReturnType<typeof setTimeout> | undefined
  /** True while an answer is being sent and after the request is resolved. */
  #paused = false
  #saveAbort = new AbortController()
  /** Runs loads and saves one after another. A load during a save could return the draft from before the save, and `#merge` would take that draft for a draft of another device. */
  #queue: Promise<void> = Promise.resolve()

  constructor(options: DraftSyncOptions) {
    this.#options = options
    const { draft, other, changedAt, savedAt, typedHere } = readLocalDraft(options.storage, options.me, options.id)
    this.#changedAt = changedAt
    this.#savedAt = savedAt
    this.#typedHere = this.#restored = this.#conflict = typedHere
    this.#unsaved = typedHere && changedAt !== savedAt
    this.#store = createObservableStore<DraftSnapshot>({ draft, others: [], other, swapCount: 0, tooLong: false })
  }

  /** Subscribes to the event stream and loads the gateway's draft. */
  open(): void {
    this.#unsubscribe = this.#options.frames(frame => this.#onFrame(frame))
    this.#enqueueLoad()
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#store.subscribe(listener)
  readonly getSnapshot = (): DraftSnapshot => this.#store.get()

  change(change: AnswerDraft): void {
    const draft = changeDraft(this.getSnapshot().draft, change)
    this.#restored = this.#conflict = false
    this.#replace({ draft }, { typedHere: !isEmptyDraft(draft), changedAt: this.#options.now() })
    this.#scheduleSave()
  }

  /** Replaces the shown draft with `other`. */
  takeOther(): void {
    const { other, swapCount } = this.getSnapshot()
    if (!other) return
    this.#restored = this.#conflict = false
    const next = { draft: other.draft, other: null, swapCount: swapCount + 1 }
    this.#replace(next, { typedHere: other.device === 'this', changedAt: this.#options.now() })
    this.#scheduleSave()
  }
  /** Discards `other`, also at the gateway. */
  keepMine(): void {
    this.#restored = this.#conflict = false
    const typedHere = !isEmptyDraft(this.getSnapshot().draft)
    this.#replace({ other: null }, { typedHere, changedAt: this.#options.now() })
    this.#scheduleSave()
  }

  /** Saves an unsaved draft as soon as earlier loads and saves have finished, without waiting for the save timer. */
  flush(): Promise<void> {
    clearTimeout(this.#saveTimer)
    this.#saveTimer = undefined
    return this.#enqueue(() => this.#save())
  }
  /** Sends an unsaved draft without waiting for earlier loads and saves, because the browser may be about to close the page. */
  saveBeforeUnload(): void {
    if (!this.#unsaved || this.#paused) return
    this.#abortSave()
    void this.#save()
  }

  /** Stops saving while an answer is sent, because the gateway refuses a draft that arrives after the answer. */
  pauseSaving(): void {
    this.#paused = true
    clearTimeout(this.#saveTimer)
    this.#saveAbort.abort()
  }
  /** Resumes saving after the gateway has refused the answer or could not be reached. */
  resumeSaving(): void {
    this.#paused = false
    this.#abortSave()
    this.#enqueueLoad()
    void this.flush()
  }

  close(): void {
    this.#unsubscribe()
    void this.flush()
  }

  #onFrame(frame: Frame): void {
    const { id, me, storage } = this.#options
    if (frame.frame === 'hello') this.#enqueueLoad()
    // Stop saving now, because the card closes next, and `close` would otherwise send a draft for a resolved request.
    if (frame.frame === 'event' && frame.event.type === 'request.resolved' && frame.event.request === id) {
      this.pauseSaving()
      if (frame.event.resolution.personId === me) removeLocalDraft(storage, me, id)
    }
    if (frame.frame !== 'answering' || frame.request !== id) return
    if (frame.personId === me) this.#enqueueLoad()
    else {
      const others = this.getSnapshot().others.filter(({ id: other }) => other !== frame.personId)
      this.#update({ others: frame.active ? [...others, { id: frame.personId, name: frame.person }] : others })
    }
  }

  #enqueueLoad(): void {
    void this.#enqueue(() => this.#load())
  }
  async #load(): Promise<void> {
    if (this.#paused) return
    const { call, id } = this.#options
    // If the gateway is unreachable or the request no longer exists, keep the draft on this device. The next `hello` starts another load.
    const loaded = await call('getDraft', { id }).catch(() => null)
    if (!loaded || this.#paused) return
    this.#update({ others: loaded.others })
    this.#merge(decodeDraft(loaded.draft?.draft), loaded.draft?.at ?? 0)
    await this.#save()
  }

  /** Compares the gateway's draft with the shown draft. The gateway's draft is either the draft that this tab saved last or a draft of another device. */
  #merge(loaded: AnswerDraft, loadedAt: number): void {
    const isFirst = this.#gatewayDraft === undefined
    const isOwn = this.#gatewayDraft
      ? sameDraft(loaded, this.#gatewayDraft)
      : this.#unsaved && loadedAt > 0 && loadedAt === this.#savedAt
    this.#gatewayDraft = loaded
    if (isFirst || !isOwn) this.#conflict = false
    if (isOwn) return
    // If a restored draft was saved but differs from the gateway's draft, another device has overwritten it at the gateway.
    const isNewer = this.#restored && (!this.#unsaved || loadedAt > this.#changedAt)
    if (sameDraft(loaded, this.getSnapshot().draft)) this.#markSame(loadedAt, isFirst)
    else if (!this.#typedHere || isNewer) this.#showLoaded(loaded, loadedAt)
    else this.#offerLoaded(loaded)
  }
  #offerLoaded(loaded: AnswerDraft): void {
    const { other } = this.getSnapshot()
    const previous = other?.device === 'this' ? other : null
    this.#conflict = !isEmptyDraft(loaded)
    this.#update({ other: this.#conflict ? { draft: loaded, device: 'other' } : previous })
    this.#storeLocally()
  }
  /** Handles a loaded draft that equals the shown draft. An earlier draft of another device is then no longer offered. It stays offered on the first load, because it is not yet known which device has changed its draft. */
  #markSame(loadedAt: number, isFirst: boolean): void {
    this.#unsaved = false
    this.#changedAt = this.#savedAt = loadedAt
    if (!isFirst && this.getSnapshot().other?.device === 'other') this.#update({ other: null })
    this.#storeLocally()
  }
  #showLoaded(loaded: AnswerDraft, loadedAt: number): void {
    const { draft, other } = this.getSnapshot()
    const mine: OtherDraft | null = this.#typedHere ? { draft, device: 'this' } : other
    const offered = mine?.device === 'this' && !sameDraft(mine.draft, loaded) ? mine : null
    this.#restored = false
    this.#savedAt = loadedAt
    this.#replace({ draft: loaded, other: offered }, { typedHere: false, changedAt: loadedAt })
    this.#options.onRemoteChange?.()
  }

  #replace(
    change: Partial<DraftSnapshot>,
    { typedHere, changedAt }: { readonly typedHere: boolean; readonly changedAt: number },
  ): void {
    this.#typedHere = typedHere
    this.#changedAt = changedAt
    this.#update(change)
    this.#unsaved = this.#differsFromGateway()
    this.#storeLocally()
  }
  #differsFromGateway(): boolean {
    return this.#gatewayDraft === undefined || !sameDraft(this.getSnapshot().draft, this.#gatewayDraft)
  }

  /** Saves at regular intervals while the person types, and not only after the last change, so that other devices can follow. */
  #scheduleSave(): void {
    this.#saveTimer ??= setTimeout(() => void this.flush(), this.#options.saveDelayMs ?? 400)
  }

  async #save(): Promise<void> {
    if (!this.#unsaved || this.#paused || this.#conflict) return
    const { call, id } = this.#options
    const { draft } = this.getSnapshot()
    const isEmpty = isEmptyDraft(draft)
    // Do not delete the gateway's draft before it has been loaded.
    if (isEmpty && this.#gatewayDraft === undefined) return
    const encoded = encodeDraft(draft)
    const tooLong = JSON.stringify(encoded).length > limits.draftMaxBytes
    if (tooLong !== this.getSnapshot().tooLong) this.#update({ tooLong })
    if (tooLong) return
    const options = { signal: this.#saveAbort.signal, keepalive: true }
    this.#unsaved = false
    try {
      if (!isEmpty) this.#savedAt = (await call('putDraft', { id, draft: encoded }, options)).at
      else if (this.#gatewayDraft && !isEmptyDraft(this.#gatewayDraft)) await call('deleteDraft', { id }, options)
      this.#gatewayDraft = draft
      this.#unsaved = this.#differsFromGateway()
      if (!this.#unsaved) this.#changedAt = this.#savedAt
      this.#storeLocally()
    } catch (error) {
      // After a permanent fault, for example because the request is resolved, do not retry. The draft stays on this device only.
      if (!(error instanceof Fault && error.status < 500 && error.code !== 'too_many')) this.#unsaved = true
    }
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(task)
    return this.#queue
  }
  #abortSave(): void {
    this.#saveAbort.abort()
    this.#saveAbort = new AbortController()
  }
  #storeLocally(): void {
    const { storage, me, id } = this.#options
    const { draft, other } = this.getSnapshot()
    const [changedAt, savedAt, typedHere] = [this.#changedAt, this.#savedAt, this.#typedHere]
    writeLocalDraft(storage, me, id, { draft, other, changedAt, savedAt, typedHere })
  }
  #update(change: Partial<DraftSnapshot>): void {
    this.#store.set({ ...this.#store.get(), ...change })
  }
}

/** What the watchers of one session remember: variables, firings, the last calls, recorded replies, and texts that the agent has not been given yet. Everything is bounded. */
import { type Action, limits, type SessionId, type VariableValue } from '@holdpoint/protocol'
import { defaultOf, type Firings, type WatchFile } from '@holdpoint/rules'
import type { ChangeBuilder } from '../change-builder.ts'
import { jsonBytes } from '../paging.ts'
import type { StoredVariable, WatchedCall, WatchReply, WatchStateRow } from '../rows.ts'

/** How many recorded replies and waiting texts are kept. Beyond this, the oldest are dropped. */
const repliesMax = 100
const repliesMaxBytes = 64 * 1024
const textsMaxBytes = 32 * 1024
/** The number of watchers whose firings are remembered. If there are more, the oldest belong to watchers that no longer exist, and are forgotten. */
const firedMax = 20 * limits.watchersPerFileMax
/** An unfinished call keeps its details if it is among this many latest calls and its details are short. */
const detailedCallsMax = 20
const detailsMaxBytes = 8 * 1024
/** How much of a long command is kept. */
const longActionMax = 4 * 1024

export class WatchState {
  readonly #change: ChangeBuilder
  #row: WatchStateRow

  private constructor(change: ChangeBuilder, row: WatchStateRow) {
    this.#change = change
    this.#row = row
  }

  /** Returns the state of a session, or a new one if nothing is stored yet. */
  static of(change: ChangeBuilder, session: SessionId): WatchState {
    return WatchState.stored(change, session) ?? new WatchState(change, emptyState(change, session))
  }
  static stored(change: ChangeBuilder, session: SessionId): WatchState | null {
    const row = change.get('watchstate', session)
    return row ? new WatchState(change, row) : null
  }

  get row(): WatchStateRow {
    return this.#row
  }
  update(fields: Partial<Omit<WatchStateRow, 'id' | 'ord'>>): void {
    this.#row = this.#change.put('watchstate', { ...this.#row, ...fields })
  }

  variable(file: Pick<WatchFile, 'id'>, name: string): StoredVariable | undefined {
    const values = this.#row.values[file.id] ?? {}
    return Object.hasOwn(values, name) ? values[name] : undefined
  }
  /** Returns the values of all variables of a file: those that were set, and the defaults of the others. */
  values(file: WatchFile): Readonly<Record<string, VariableValue>> {
    const declarations = Object.entries(file.vars)
    return Object.fromEntries(
      declarations.map(([name, declaration]) => [name, this.variable(file, name)?.value ?? defaultOf(declaration)]),
    )
  }
  /** Sets a variable. Returns the problem instead if the variables of the session would become too large. */
  setVariable(file: Pick<WatchFile, 'id'>, name: string, value: VariableValue, by: string): string | null {
    if (typeof value === 'string' && value.length > limits.variableTextMax)
      return `The value of ${name} has more than ${limits.variableTextMax} characters, so it was not set`
    const before = this.#row.values
    const variable = { value, at: this.#change.now, by }
    const values = { ...before, [file.id]: { ...before[file.id], [name]: variable } }
    if (jsonBytes(values) > limits.variablesMaxBytes)
      return `The variables of the session would have more than ${limits.variablesMaxBytes} bytes, so ${name} was not set`
    this.update({ values })
    return null
  }

  firings(file: Pick<WatchFile, 'id'>, watcher: string): Firings | undefined {
    return this.#row.fired[`${file.id} ${watcher}`]
  }
  countFiring(file: Pick<WatchFile, 'id'>, watcher: string): void {
    const before = this.firings(file, watcher)
    this.#setFirings(file, watcher, { ...before, count: (before?.count ?? 0) + 1, lastAt: this.#change.now })
  }
  allowUpTo(file: Pick<WatchFile, 'id'>, watcher: string, allowedUpTo: number): void {
    const before = this.firings(file, watcher) ?? { count: 0, lastAt: 0 }
    this.#setFirings(file, watcher, { ...before, allowedUpTo, allowedAt: this.#change.now })
  }
  #setFirings(file: Pick<WatchFile, 'id'>, watcher: string, firings: Firings): void {
    const key = `${file.id} ${watcher}`
    const others = Object.entries(this.#row.fired).filter(([known]) => known !== key)
    this.update({ fired: Object.fromEntries([...others, [key, firings] as const].slice(-firedMax)) })
  }

  call(key: string): WatchedCall | undefined {
    return this.#row.calls.find(call => call.key === key)
  }
  /** Adds a call, or replaces what is known of it. */
  putCall(call: WatchedCall): void {
    const others = this.#row.calls.filter(({ key }) => key !== call.key)
    this.#setCalls([...others, withShortDetails(call)])
  }
  renameCall({ key: before, ...call }: WatchedCall, key: string): void {
    this.#setCalls([...this.#row.calls.filter(known => known.key !== before && known.key !== key), { ...call, key }])
  }
  finishCall(key: string, ok: boolean | undefined): void {
    const known = ok === undefined ? {} : { ok }
    this.#setCalls(this.#row.calls.map(call => (call.key === key ? { ...withoutDetails(call), ...known } : call)))
  }
  #setCalls(calls: readonly WatchedCall[]): void {
    const kept = calls.slice(-limits.recentCallsMax)
    this.update({ calls: kept.map((call, i) => (i < kept.length - detailedCallsMax ? withoutDetails(call) : call)) })
  }

  reply(key: string): WatchReply | undefined {
    return this.#row.replies.find(reply => reply.key === key)
  }
  /** Records what watchers said about a moment. */
  putReply(reply: WatchReply): WatchReply {
    const all = [...this.#row.replies.filter(({ key }) => key !== reply.key), reply]
    this.update({ replies: newest(all, repliesMax, repliesMaxBytes, lengthOf) })
    return reply
  }
  dropReply(key: string): void {
    if (this.reply(key)) this.update({ replies: this.#row.replies.filter(reply => reply.key !== key) })
  }

  /** Keeps texts until the agent can be given them. */
  keepTexts(texts: readonly string[]): void {
    if (texts.length === 0) return
    this.update({ texts: newest([...this.#row.texts, ...texts], limits.watchersPerFileMax, textsMaxBytes, jsonBytes) })
  }
  /** Returns the texts that the agent has not been given yet. The caller gives them to the agent now. */
  takeTexts(): readonly string[] {
    const { texts } = this.#row
    if (texts.length > 0) this.update({ texts: [] })
    return texts
  }
}

function emptyState(change: ChangeBuilder, id: SessionId): WatchStateRow {
  return {
    id,
    ord: change.nextSeq,
    started: false,
    values: {},
    fired: {},
    sentBack: 0,
    stopReported: false,
    stopRequest: null,
    texts: [],
    calls: [],
    replies: [],
    work: { tokens: 0, turns: 0, workedMs: 0, totalledMs: 0, at: change.now, waitedMs: 0 },
  }
}

/** Leaves out the input of a call if it is long. What the call does is always kept, so that watchers see it after the call. */
function withShortDetails(call: WatchedCall): WatchedCall {
  const { details } = call
  if (details === undefined || !isLong(details)) return call
  return {
    ...call,
    details: { ...details, input: {}, ...(details.action ? { action: shortAction(details.action) } : {}) },
  }
}
/** Returns whether a JSON value is too long to be kept. A long value is not turned into JSON for this, because that takes long. */
function isLong(value: object): boolean {
  return textLength(value) > detailsMaxBytes || jsonBytes(value) > detailsMaxBytes
}
/** Returns how long the texts in a JSON value are together. Stops counting when they are too long. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (value === null || typeof value !== 'object') return 1
  let length = 1
  for (const [name, item] of Object.entries(value)) {
    length += name.length + textLength(item)
    if (length > detailsMaxBytes) break
  }
  return length
}
function shortAction(action: Action): Action {
  if (!isLong(action)) return action
  if ('shell' in action) return { ...action, shell: action.shell.slice(0, longActionMax).toWellFormed() }
  if ('write' in action) return { write: action.write.slice(0, 1) }
  return 'read' in action ? { read: action.read.slice(0, 1) } : action
}
function withoutDetails(call: WatchedCall): WatchedCall {
  // Most calls no longer have details, and every change of one call looks at all calls.
  if (call.details === undefined) return call
  const { details: _, ...rest } = call
  return rest
}
/** Returns the approximate length of a reply as JSON. The JSON is not built, because this runs for all replies at every moment. */
function lengthOf({ key, reason = '', say }: WatchReply): number {
  return say.reduce((sum, text) => sum + text.length, 300 + key.length + reason.length)
}

/** Returns the texts of one moment that fit into a reply. */
export function fittingTexts(texts: readonly string[]): readonly string[] {
  let bytes = 0
  return texts.filter(text => {
    bytes += jsonBytes(text)
    return bytes <= textsMaxBytes
  })
}

/** Returns the last items that are neither too many nor too large together. */
function newest<T>(items: readonly T[], max: number, maxBytes: number, sizeOf: (item: T) => number): readonly T[] {
  let bytes = 0
  let first = items.length
  while (first > 0 && items.length - first < max) {
    bytes += sizeOf(items[first - 1] as T) // `first` is at most the number of items
    if (bytes > maxBytes) break
    first--
  }
  return items.slice(first)
}

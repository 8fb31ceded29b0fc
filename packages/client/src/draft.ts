/** An unfinished answer, and its versioned stored form. A stored draft that cannot be decoded counts as empty. */
import { type Comment, canonicalJson, limits } from '@holdpoint/protocol'

export interface DraftChoice {
  readonly chosen: readonly string[]
  /** The person's own text. The draft keeps this text even while it is not part of the answer. */
  readonly other?: string
  /** Whether `other` is part of the answer. */
  readonly own?: boolean
}
/** The content of a form control, before it is parsed into a value. */
export type RawField = string | boolean | readonly string[]

export interface AnswerDraft {
  readonly note?: string
  readonly reason?: string
  /** The question that the person asks back. */
  readonly question?: string
  /** Comments on lines, in the order in which they were written. */
  readonly comments?: readonly Comment[]
  /** The edited input, or undefined if the person has not edited the input. An empty string is an edit. */
  readonly edit?: string | undefined
  readonly mode?: string
  readonly answers?: ReadonlyMap<string, DraftChoice>
  readonly values?: ReadonlyMap<string, RawField>
}

const version = 1
const textFields = ['note', 'reason', 'question', 'edit', 'mode'] as const

/** Applies a change and removes empty fields, so that a cleared draft equals an empty draft. */
export function changeDraft(draft: AnswerDraft, change: AnswerDraft): AnswerDraft {
  const fields = Object.entries({ ...draft, ...change }).filter(([name, value]) =>
    value instanceof Map
      ? value.size > 0
      : Array.isArray(value)
        ? value.length > 0
        : value !== undefined && (value !== '' || name === 'edit'),
  )
  return Object.fromEntries(fields)
}

export function isEmptyDraft(draft: AnswerDraft): boolean {
  return Object.keys(draft).length === 0
}

export function sameDraft(a: AnswerDraft, b: AnswerDraft): boolean {
  return canonicalJson(encodeDraft(a)) === canonicalJson(encodeDraft(b))
}

/** Returns the stored form of a draft. Maps become lists, because agents choose the ids, and an id such as `__proto__` would be lost as an object key. The lists are sorted, so that equal drafts have equal stored forms. */
export function encodeDraft({ answers, values, ...rest }: AnswerDraft): unknown {
  return {
    version,
    ...rest,
    ...(answers && { answers: sortedById(answers).map(([id, choice]) => ({ id, ...choice })) }),
    ...(values && { values: sortedById(values).map(([name, raw]) => ({ name, raw })) }),
  }
}

function sortedById<T>(map: ReadonlyMap<string, T>): readonly [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}

export function decodeDraft(stored: unknown): AnswerDraft {
  if (!isObject(stored) || stored.version !== version) return {}
  return changeDraft(
    Object.fromEntries(textFields.flatMap(name => (isText(stored[name]) ? [[name, stored[name]]] : []))),
    {
      answers: new Map(listOf(stored.answers).flatMap(decodeChoice)),
      values: new Map(listOf(stored.values).flatMap(decodeField)),
      comments: listOf(stored.comments).flatMap(decodeComment).slice(0, limits.commentsMax),
    },
  )
}

function decodeChoice({ id, chosen, other, own }: UnknownObject): [string, DraftChoice][] {
  if (!isText(id) || !isTextList(chosen)) return []
  return [[id, { chosen, ...(isText(other) && { other }), ...(own === true && { own }) }]]
}
function decodeField({ name, raw }: UnknownObject): [string, RawField][] {
  return isText(name) && (isText(raw) || typeof raw === 'boolean' || isTextList(raw)) ? [[name, raw]] : []
}

/** Leaves out a comment that the gateway would refuse, because nobody could send the answer then. */
function decodeComment({ path, edit, line, side, quote, text }: UnknownObject): Comment[] {
  if (!isText(quote) || quote.length > limits.quoteMax) return []
  if (!isText(text) || text === '' || text.length > limits.commentMax) return []
  return [
    {
      ...(isText(path) && path !== '' && { path }),
      ...(isCount(edit) && { edit }),
      ...(isCount(line) && { line }),
      ...((side === 'before' || side === 'after') && { side }),
      quote,
      text,
    },
  ]
}

type UnknownObject = Readonly<Record<string, unknown>>
function isObject(value: unknown): value is UnknownObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
function listOf(value: unknown): readonly UnknownObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
function isText(value: unknown): value is string {
  return typeof value === 'string'
}
function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1
}
function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

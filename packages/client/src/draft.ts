/** An unfinished answer as it is kept: small, versioned, and never holding a secret. What cannot be read is no draft. */
import { canonicalJson } from '@holdpoint/protocol'

export interface DraftChoice {
  readonly chosen: readonly string[]
  /** Of one's own words: kept also while they are not chosen. */
  readonly other?: string
  /** They count. */
  readonly own?: boolean
}
/** What a form's control holds, before it is a value. */
export type RawField = string | boolean | readonly string[]

export interface AnswerDraft {
  readonly note?: string
  readonly reason?: string
  /** Empty is an edit, too; none is undefined. */
  readonly edit?: string | undefined
  readonly mode?: string
  readonly answers?: ReadonlyMap<string, DraftChoice>
  readonly values?: ReadonlyMap<string, RawField>
}

const version = 1
const texts = ['note', 'reason', 'edit', 'mode'] as const

/** Empty parts are left out, so that an emptied draft is an empty one. */
export function changeDraft(draft: AnswerDraft, change: AnswerDraft): AnswerDraft {
  const parts = Object.entries({ ...draft, ...change }).filter(([name, part]) =>
    part instanceof Map ? part.size > 0 : part !== undefined && (part !== '' || name === 'edit'),
  )
  return Object.fromEntries(parts)
}

export function isEmptyDraft(draft: AnswerDraft): boolean {
  return Object.keys(draft).length === 0
}

export function sameDraft(a: AnswerDraft, b: AnswerDraft): boolean {
  return canonicalJson(encodeDraft(a)) === canonicalJson(encodeDraft(b))
}

/** Names of questions and fields are an agent's: as keys of an object some could not be sent. In which order they were filled in says nothing. */
export function encodeDraft({ answers, values, ...rest }: AnswerDraft): unknown {
  return {
    version,
    ...rest,
    ...(answers && { answers: byName(answers).map(([id, choice]) => ({ id, ...choice })) }),
    ...(values && { values: byName(values).map(([name, raw]) => ({ name, raw })) }),
  }
}

function byName<T>(parts: ReadonlyMap<string, T>): readonly [string, T][] {
  return [...parts].sort(([a], [b]) => (a < b ? -1 : 1))
}

export function decodeDraft(stored: unknown): AnswerDraft {
  if (!isObject(stored) || stored.version !== version) return {}
  return changeDraft(Object.fromEntries(texts.flatMap(name => (isText(stored[name]) ? [[name, stored[name]]] : []))), {
    answers: new Map(listOf(stored.answers).flatMap(readChoice)),
    values: new Map(listOf(stored.values).flatMap(readRaw)),
  })
}

function readChoice({ id, chosen, other, own }: Unknown): [string, DraftChoice][] {
  if (!isText(id) || !isTexts(chosen)) return []
  return [[id, { chosen, ...(isText(other) && { other }), ...(own === true && { own }) }]]
}
function readRaw({ name, raw }: Unknown): [string, RawField][] {
  return isText(name) && (isText(raw) || typeof raw === 'boolean' || isTexts(raw)) ? [[name, raw]] : []
}

type Unknown = Readonly<Record<string, unknown>>
function isObject(value: unknown): value is Unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
function listOf(value: unknown): readonly Unknown[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
function isText(value: unknown): value is string {
  return typeof value === 'string'
}
function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

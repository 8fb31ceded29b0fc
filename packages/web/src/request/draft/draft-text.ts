/** Formats a draft as text that a person can read and copy. Drafts contain no secrets. */
import type { AnswerDraft, DraftChoice, RawField } from '@holdpoint/client'
import { type Ask, commentPlace } from '@holdpoint/protocol'

/** Returns an empty string if the draft is empty. */
export function draftText(
  ask: Ask,
  { edit, reason, question, note, comments = [], answers, values }: AnswerDraft,
): string {
  const reviewed = comments.map(comment => `${commentPlace(ask, comment)}: ${comment.text}`)
  const parts = [edit, note, reason, question, ...reviewed, ...choiceTexts(ask, answers), ...valueTexts(ask, values)]
  return parts.filter(part => part !== undefined && part.trim() !== '').join('\n')
}

function choiceTexts(ask: Ask, answers: ReadonlyMap<string, DraftChoice> = new Map()): readonly string[] {
  if (ask.kind !== 'questions') return []
  const severalQuestions = ask.questions.length > 1
  return ask.questions.flatMap(({ id, header, question }) => {
    const { chosen = [], other } = answers.get(id) ?? {}
    const text = [...chosen, ...(other ? [other] : [])].join(', ')
    return text === '' ? [] : [severalQuestions ? `${header || question}: ${text}` : text]
  })
}

function valueTexts(ask: Ask, values: ReadonlyMap<string, RawField> = new Map()): readonly string[] {
  if (ask.kind !== 'form') return []
  return Object.entries(ask.schema.properties).flatMap(([name, { title }]) => {
    const raw = values.get(name)
    if (raw === undefined || raw === '') return []
    return [`${title ?? name}: ${rawText(raw)}`]
  })
}

function rawText(raw: RawField): string {
  if (typeof raw === 'boolean') return raw ? 'yes' : 'no'
  return typeof raw === 'string' ? raw : raw.join(', ')
}

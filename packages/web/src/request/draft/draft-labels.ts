/** An unfinished answer as text that a person can read and copy. It holds no secret, since a draft does not. */
import type { AnswerDraft, DraftChoice, RawField } from '@holdpoint/client'
import type { Ask } from '@holdpoint/protocol'

/** Empty where nothing was said yet. */
export function draftLabels(ask: Ask, { edit, reason, note, answers, values }: AnswerDraft): string {
  const parts = [edit, note, reason, ...choiceWords(ask, answers), ...valueWords(ask, values)]
  return parts.filter(part => part !== undefined && part.trim() !== '').join('\n')
}

function choiceWords(ask: Ask, answers: ReadonlyMap<string, DraftChoice> = new Map()): readonly string[] {
  if (ask.kind !== 'questions') return []
  const named = ask.questions.length > 1
  return ask.questions.flatMap(({ id, header, question }) => {
    const { chosen = [], other } = answers.get(id) ?? {}
    const words = [...chosen, ...(other ? [other] : [])].join(', ')
    return words === '' ? [] : [named ? `${header || question}: ${words}` : words]
  })
}

function valueWords(ask: Ask, values: ReadonlyMap<string, RawField> = new Map()): readonly string[] {
  if (ask.kind !== 'form') return []
  return Object.entries(ask.schema.properties).flatMap(([name, { title }]) => {
    const raw = values.get(name)
    if (raw === undefined || raw === '') return []
    return [`${title ?? name}: ${rawWords(raw)}`]
  })
}

function rawWords(raw: RawField): string {
  if (typeof raw === 'boolean') return raw ? 'yes' : 'no'
  return typeof raw === 'string' ? raw : raw.join(', ')
}

/** Questions that Codex asks the person. */
import { limits, type QuestionsAsk } from '@holdpoint/protocol'
import type { Decision } from '../session/decisions.ts'
import type { NativeCall } from './native-call.ts'
import type { UserInput } from './wire.ts'

/** In Codex's own terminal, text that a person writes in addition to the options has this prefix. */
const notePrefix = 'user_note: '

export function questionsCall({ threadId, turnId, itemId, questions, autoResolutionMs }: UserInput): NativeCall {
  const ask: QuestionsAsk = {
    kind: 'questions',
    questions: questions.map(({ id, header, question, isOther, isSecret, options }) => ({
      id,
      header: header.slice(0, limits.titleMax).toWellFormed(),
      question,
      options: (options ?? []).map(({ label, description }) => ({ label, ...(description ? { description } : {}) })),
      multiSelect: false,
      allowOther: isOther || !options?.length,
      secret: isSecret,
    })),
  }
  const hasOptions = new Set(questions.flatMap(({ id, options }) => (options?.length ? [id] : [])))
  return {
    ...{ threadId, turnId, itemId, ask },
    // Codex continues without an answer after this time.
    ...(autoResolutionMs
      ? { deadlineMs: Math.max(limits.deadlineMinMs, Math.round(autoResolutionMs)), onDeadline: 'deny' }
      : {}),
    reply: decision => (decision.stopsTurn ? null : { answers: answersOf(decision, hasOptions) }),
  }
}

function answersOf({ answer }: Decision, hasOptions: ReadonlySet<string>): object {
  if (answer?.kind !== 'answers') return {}
  return Object.fromEntries(
    answer.answers.map(({ id, chosen, other }) => {
      const own = other === undefined ? [] : [hasOptions.has(id) ? `${notePrefix}${other}` : other]
      return [id, { answers: [...chosen, ...own] }]
    }),
  )
}

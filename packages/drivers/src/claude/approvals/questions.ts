/** Converts the input of AskUserQuestion to a questions ask, and adds the answers to the input. Claude Code looks up each answer by the text of its question, and ignores answers under any other key. */
import { type Answer, type JsonObject, limits, type QuestionsAsk } from '@holdpoint/protocol'

interface NativeQuestion {
  readonly question: string
  readonly header?: string
  readonly multiSelect?: boolean
  readonly options?: readonly { readonly label: string; readonly description?: string; readonly preview?: string }[]
}

function questionsIn(input: JsonObject): readonly NativeQuestion[] {
  return Array.isArray(input.questions) ? (input.questions as unknown as readonly NativeQuestion[]) : [] // the CLI validates the input of its own tool
}
const questionId = (index: number) => `q${index + 1}`

export function questionsAsk(input: JsonObject): QuestionsAsk {
  const questions = questionsIn(input).map(({ question, header, multiSelect, options }, index) => ({
    id: questionId(index),
    header: (header ?? '').slice(0, limits.titleMax).toWellFormed(),
    question,
    options: (options ?? []).map(({ label, description, preview }) => ({
      label,
      ...(description === undefined ? {} : { description }),
      ...(preview === undefined ? {} : { preview }),
    })),
    multiSelect: multiSelect ?? false,
    allowOther: true,
    secret: false,
  }))
  return { kind: 'questions', questions }
}

/** Returns the tool input with the person's answers added. Unanswered questions have no entry. */
export function answeredInput(input: JsonObject, { answers }: Extract<Answer, { kind: 'answers' }>): JsonObject {
  const answersByQuestion: Record<string, string> = {}
  questionsIn(input).forEach(({ question }, index) => {
    const answer = answers.find(({ id }) => id === questionId(index))
    if (!answer) return
    const texts = [...answer.chosen, ...(answer.other === undefined ? [] : [answer.other])]
    answersByQuestion[question] = texts.join(', ')
  })
  return { ...input, answers: answersByQuestion }
}

/** AskUserQuestion in our words and back. Claude Code reads answers by the text of the question: any other key never reaches the model. */
import { type Answer, type JsonObject, limits, type QuestionsAsk } from '@holdpoint/protocol'

interface NativeQuestion {
  readonly question: string
  readonly header?: string
  readonly multiSelect?: boolean
  readonly options?: readonly { readonly label: string; readonly description?: string; readonly preview?: string }[]
}

function questionsOf(input: JsonObject): readonly NativeQuestion[] {
  return Array.isArray(input.questions) ? (input.questions as unknown as readonly NativeQuestion[]) : [] // the tool's own schema
}
const idOf = (index: number) => `q${index + 1}`

export function questionsAsk(input: JsonObject): QuestionsAsk {
  const questions = questionsOf(input).map(({ question, header, multiSelect, options }, index) => ({
    id: idOf(index),
    header: (header ?? '').slice(0, limits.titleMax),
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

/** The input with the answers in it. A question that was left out stays without one. */
export function answeredInput(input: JsonObject, { answers }: Extract<Answer, { kind: 'answers' }>): JsonObject {
  const said: Record<string, string> = {}
  questionsOf(input).forEach(({ question }, index) => {
    const answer = answers.find(({ id }) => id === idOf(index))
    if (answer) said[question] = [...answer.chosen, ...(answer.other === undefined ? [] : [answer.other])].join(', ')
  })
  return { ...input, answers: said }
}

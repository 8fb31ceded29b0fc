/** The names by which people refer to the questions of a request: the id, the number, or `number:id` if both are ambiguous. */
import type { Question } from '@holdpoint/protocol'

export interface QuestionMatch {
  readonly question: Question
  /** The text after `NAME=`. */
  readonly value: string
}

/** Returns every question that `NAME=value` could mean. Agents choose the ids, so an id may look like a number or start like another id. */
export function matchQuestions(questions: readonly Question[], typed: string): readonly QuestionMatch[] {
  return questions.flatMap((question, index) => {
    const name = acceptedNames(question, index).find(name => typed.startsWith(`${name}=`))
    return name === undefined ? [] : [{ question, value: typed.slice(name.length + 1) }]
  })
}

/** Returns the first of its accepted names that means this question and no other. */
export function questionName(questions: readonly Question[], question: Question): string {
  const names = acceptedNames(question, questions.indexOf(question))
  return names.find(name => matchQuestions(questions, `${name}=`).length === 1) ?? fullQuestionName(questions, question)
}
export function fullQuestionName(questions: readonly Question[], question: Question): string {
  return `${questions.indexOf(question) + 1}:${question.id}`
}

function acceptedNames({ id }: Question, index: number): readonly string[] {
  return [id, String(index + 1), `${index + 1}:${id}`]
}

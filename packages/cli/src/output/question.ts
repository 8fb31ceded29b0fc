/** How people say which question they mean where there are several: its id, its number, or both where either could be another. */
import type { Question } from '@holdpoint/protocol'

export interface QuestionMatch {
  readonly question: Question
  /** What stands behind the name. */
  readonly value: string
}

/** All that `NAME=…` could mean: ids are the agent's, and may look like any number, or begin like another. */
export function matchQuestions(questions: readonly Question[], spelled: string): readonly QuestionMatch[] {
  return questions.flatMap((question, at) => {
    const name = acceptedNames(question, at).find(name => spelled.startsWith(`${name}=`))
    return name === undefined ? [] : [{ question, value: spelled.slice(name.length + 1) }]
  })
}

/** What can be typed for it, and means no other. */
export function shortName(questions: readonly Question[], question: Question): string {
  const names = acceptedNames(question, questions.indexOf(question))
  return names.find(name => matchQuestions(questions, `${name}=`).length === 1) ?? fullName(questions, question)
}
export function fullName(questions: readonly Question[], question: Question): string {
  return `${questions.indexOf(question) + 1}:${question.id}`
}

function acceptedNames({ id }: Question, at: number): readonly string[] {
  return [id, String(at + 1), `${at + 1}:${id}`]
}

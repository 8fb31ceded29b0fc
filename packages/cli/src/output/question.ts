/** How people say which question they mean where there are several: its id, its number, or both where either could be another. */
import type { Question } from '@holdpoint/protocol'

export interface Meant {
  readonly question: Question
  /** What stands behind the name. */
  readonly value: string
}

/** All that `NAME=…` could mean: ids are the agent's, and may look like any number, or begin like another. */
export function meantBy(questions: readonly Question[], spelled: string): readonly Meant[] {
  return questions.flatMap((question, at) => {
    const name = namesOf(question, at).find(name => spelled.startsWith(`${name}=`))
    return name === undefined ? [] : [{ question, value: spelled.slice(name.length + 1) }]
  })
}

/** What can be typed for it, and means no other. */
export function nameOf(questions: readonly Question[], question: Question): string {
  const names = namesOf(question, questions.indexOf(question))
  return names.find(name => meantBy(questions, `${name}=`).length === 1) ?? fullName(questions, question)
}
export function fullName(questions: readonly Question[], question: Question): string {
  return `${questions.indexOf(question) + 1}:${question.id}`
}

function namesOf({ id }: Question, at: number): readonly string[] {
  return [id, String(at + 1), `${at + 1}:${id}`]
}

/** `holdpoint answer`: answers questions by label, number or text, and forms by field or from a file. */
import {
  type Answer,
  Fault,
  type Question,
  type QuestionAnswer,
  type QuestionsAsk,
  type Request,
} from '@holdpoint/protocol'
import type { GatewayAddress, GatewayClient } from '../gateway-client/gateway-client.ts'
import { fullQuestionName, matchQuestions, type QuestionMatch, questionName } from '../output/question.ts'
import { answerOne } from '../tui/answer/answer.ts'
import { isInteractive } from '../tui/terminal/terminal.ts'
import { requireFittingAnswer } from './allow-deny.ts'
import { buildFormValues } from './form-values.ts'
import { findRequest } from './ids.ts'
import { readText } from './input-files.ts'
import { submitAnswer } from './submit-answer.ts'
import { answerTexts } from './texts.ts'

export interface AnswerOptions extends GatewayAddress {
  readonly choose?: readonly string[]
  readonly text?: readonly string[]
  readonly set?: readonly string[]
  readonly values?: string
  readonly decline?: boolean
  readonly reason?: string
  readonly stop?: boolean
  readonly digest?: string
  readonly json?: boolean
}

export async function answer(client: GatewayClient, typedId: string, options: AnswerOptions): Promise<void> {
  const { call } = client
  const request = await findRequest(call, typedId)
  const { url: _url, home: _home, ...given } = options
  if (Object.keys(given).length === 0 && isInteractive()) return answerOne(client, request)
  const built = buildAnswer(request, options)
  requireFittingAnswer(request, built)
  await submitAnswer(call, { request, answer: built, digest: options.digest, json: options.json })
}

function buildAnswer({ id, ask }: Request, options: AnswerOptions): Answer {
  const { decline, reason, stop, choose = [], text = [], set = [], values } = options
  const given = choose.length + text.length + set.length + (values === undefined ? 0 : 1)
  if (ask.kind === 'approval') throw new Fault('bad_input', answerTexts.isApproval(id))
  if (decline) {
    if (given > 0) throw new Fault('bad_input', answerTexts.declineWithAnswer)
    return { kind: 'decline', ...(reason !== undefined && { reason }), ...(stop && { interrupt: true }) }
  }
  if (reason !== undefined || stop) throw new Fault('bad_input', answerTexts.reasonWithoutDecline)
  if (ask.kind === 'questions') {
    if (set.length > 0 || values !== undefined) throw new Fault('bad_input', answerTexts.isQuestions(id))
    if (given === 0) throw new Fault('bad_input', answerTexts.noAnswer(describeChoices(ask)))
    return { kind: 'answers', answers: buildQuestionAnswers(ask, choose, text) }
  }
  if (choose.length > 0 || text.length > 0) throw new Fault('bad_input', answerTexts.isForm(id))
  if (given === 0) throw new Fault('bad_input', answerTexts.noValues(Object.keys(ask.schema.properties)))
  return { kind: 'submit', values: buildFormValues(ask, set, values) }
}

function describeChoices({ questions }: QuestionsAsk): string {
  if (questions.length > 1) return answerTexts.questions(questions.map(question => questionName(questions, question)))
  const labels = questions[0]?.options.map(({ label }) => label) ?? []
  return labels.length > 0 ? answerTexts.options(labels) : answerTexts.ownWords
}

/** Returns the answers in the order of the questions. Unanswered questions are left out, and the agent sees which ones. */
function buildQuestionAnswers(ask: QuestionsAsk, choose: readonly string[], text: readonly string[]): QuestionAnswer[] {
  const chosen = choose
    .map(typed => parseQuestionValue(ask, typed))
    .map(({ question, value }) => ({ question, label: optionLabel(question, value) }))
  const texts = text.map(typed => parseQuestionValue(ask, typed))
  return ask.questions.flatMap(question => {
    const labels = chosen.filter(item => item.question === question).map(item => item.label)
    const own = texts.filter(item => item.question === question).map(item => item.value)
    if (own.length > 1) throw new Fault('bad_input', answerTexts.textTwice(question.id))
    if (labels.length === 0 && own.length === 0) return []
    return [{ id: question.id, chosen: labels, ...(own[0] !== undefined && { other: textOrStdin(own[0]) }) }]
  })
}

/** Finds the question that `QUESTION=…` names. If the request has only one question, the whole text is the answer. */
function parseQuestionValue({ questions }: QuestionsAsk, typed: string): QuestionMatch {
  const [only] = questions
  if (questions.length === 1 && only) return { question: only, value: typed }
  const matches = matchQuestions(questions, typed)
  if (matches.length > 1) {
    const names = matches.map(({ question }) => fullQuestionName(questions, question))
    throw new Fault('bad_input', answerTexts.ambiguousQuestion(typed, names))
  }
  if (matches[0]) return matches[0]
  const names = questions.map(question => questionName(questions, question))
  throw new Fault('bad_input', answerTexts.whichQuestion(names))
}

function optionLabel(question: Question, typed: string): string {
  const option = findOption(question, typed)
  if (option) return option.label
  const labels = question.options.map(({ label }) => label)
  throw new Fault('bad_input', answerTexts.notAnOption(typed, question.id, labels))
}

/** Finds an option by its exact label, by its label in another case, or by the number that `show` prints. */
function findOption({ options }: Question, typed: string): Question['options'][number] | undefined {
  const exact = options.find(({ label }) => label === typed)
  const ignoringCase = options.filter(({ label }) => label.toLowerCase() === typed.toLowerCase())
  const numbered = /^\d+$/.test(typed) ? options[Number(typed) - 1] : undefined
  return exact ?? (ignoringCase.length === 1 ? ignoringCase[0] : undefined) ?? numbered
}

/** Reads the text from stdin if it is `-`. Secrets need this, because other users of the machine can see a process's arguments. */
function textOrStdin(text: string): string {
  return text === '-' ? readText('-').replace(/\r?\n$/, '') : text
}

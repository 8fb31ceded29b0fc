/** `holdpoint answer`: questions by label, number or in one's own words; forms field by field or from a file. */
import {
  type Answer,
  Fault,
  type Question,
  type QuestionAnswer,
  type QuestionsAsk,
  type Request,
} from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { fullName, matchQuestions, type QuestionMatch, shortName } from '../output/question.ts'
import { requireFittingAnswer } from './allow.ts'
import { buildFormValues } from './form-values.ts'
import { findRequest } from './ids.ts'
import { readText } from './input-files.ts'
import { submitAnswer } from './submit-answer.ts'

export interface AnswerOptions {
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

export async function answer({ call }: GatewayClient, spelled: string, options: AnswerOptions): Promise<void> {
  const request = await findRequest(call, spelled)
  const said = buildAnswer(request, options)
  requireFittingAnswer(request, said)
  await submitAnswer(call, { request, answer: said, digest: options.digest, json: options.json })
}

function buildAnswer({ id, ask }: Request, options: AnswerOptions): Answer {
  const { decline, reason, stop, choose = [], text = [], set = [], values } = options
  const given = choose.length + text.length + set.length + (values === undefined ? 0 : 1)
  if (ask.kind === 'approval')
    throw new Fault('bad_input', `${id} asks for approval: holdpoint allow ${id}, or holdpoint deny ${id}`)
  if (decline) {
    if (given > 0) throw new Fault('bad_input', '--decline stands alone, or with --reason and --stop')
    return { kind: 'decline', ...(reason !== undefined && { reason }), ...(stop && { interrupt: true }) }
  }
  if (reason !== undefined || stop) throw new Fault('bad_input', '--reason and --stop go with --decline')
  if (ask.kind === 'questions') {
    if (set.length > 0 || values !== undefined)
      throw new Fault(
        'bad_input',
        `${id} asks questions: --choose LABEL or --text WORDS; --set and --values are for forms`,
      )
    if (given === 0)
      throw new Fault('bad_input', `Say what to answer: --choose LABEL, --text WORDS or --decline. ${listChoices(ask)}`)
    return { kind: 'answers', answers: buildQuestionAnswers(ask, choose, text) }
  }
  if (choose.length > 0 || text.length > 0)
    throw new Fault(
      'bad_input',
      `${id} is a form: --set FIELD=VALUE or --values FILE; --choose and --text are for questions`,
    )
  if (given === 0)
    throw new Fault(
      'bad_input',
      `Say what to fill in: --set FIELD=VALUE, --values FILE or --decline. Its fields: ${Object.keys(ask.schema.properties).join(', ')}`,
    )
  return { kind: 'submit', values: buildFormValues(ask, set, values) }
}

function listChoices({ questions }: QuestionsAsk): string {
  if (questions.length > 1)
    return `Its questions: ${questions.map(question => shortName(questions, question)).join(', ')}`
  const labels = questions[0]?.options.map(({ label }) => label) ?? []
  return labels.length > 0 ? `Its options: ${labels.join(', ')}` : 'It takes an answer in your own words'
}

/** In the order of the questions; one that nothing is said to is left out, and the agent told so. */
function buildQuestionAnswers(ask: QuestionsAsk, choose: readonly string[], text: readonly string[]): QuestionAnswer[] {
  const chosen = choose
    .map(spelled => parseQuestionValue(ask, spelled))
    .map(({ question, value }) => ({ question, label: optionLabel(question, value) }))
  const words = text.map(spelled => parseQuestionValue(ask, spelled))
  return ask.questions.flatMap(question => {
    const labels = chosen.filter(item => item.question === question).map(item => item.label)
    const own = words.filter(item => item.question === question).map(item => item.value)
    if (own.length > 1) throw new Fault('bad_input', `--text is given twice for question ${question.id}`)
    if (labels.length === 0 && own.length === 0) return []
    return [{ id: question.id, chosen: labels, ...(own[0] !== undefined && { other: textOrStdin(own[0]) }) }]
  })
}

/** Where there are several questions, `QUESTION=…` says which; where there is one, all of it is the answer. */
function parseQuestionValue({ questions }: QuestionsAsk, spelled: string): QuestionMatch {
  const [only] = questions
  if (questions.length === 1 && only) return { question: only, value: spelled }
  const meant = matchQuestions(questions, spelled)
  const full = (question: Question) => fullName(questions, question)
  if (meant.length > 1)
    throw new Fault(
      'bad_input',
      `"${spelled}" could be ${meant.map(({ question }) => `question ${full(question)}`).join(' or ')}: name it by both, as ${meant.map(({ question }) => `${full(question)}=…`).join(' or ')}`,
    )
  if (meant[0]) return meant[0]
  const names = questions.map(question => shortName(questions, question)).join(', ')
  throw new Fault(
    'bad_input',
    `There are several questions: say which one as QUESTION=…, where QUESTION is ${names}, or its number`,
  )
}

function optionLabel(question: Question, spelled: string): string {
  const { id, options } = question
  const found = findOption(question, spelled)
  if (found) return found.label
  const labels = options.map(({ label }) => label).join(', ')
  throw new Fault(
    'bad_input',
    `"${spelled}" is not an option of question ${id}${labels === '' ? '; use --text' : `; there is ${labels}`}`,
  )
}

/** By the label, in any case, or by the number that `show` prints. */
function findOption({ options }: Question, spelled: string): Question['options'][number] | undefined {
  const exact = options.find(({ label }) => label === spelled)
  const loose = options.filter(({ label }) => label.toLowerCase() === spelled.toLowerCase())
  const numbered = /^\d+$/.test(spelled) ? options[Number(spelled) - 1] : undefined
  return exact ?? (loose.length === 1 ? loose[0] : undefined) ?? numbered
}

/** From stdin where it is `-`: a secret on the command line can be read by others. */
function textOrStdin(text: string): string {
  return text === '-' ? readText('-').replace(/\r?\n$/, '') : text
}

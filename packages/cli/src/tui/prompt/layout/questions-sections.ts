/** What a question shows: its words, its options with the one chosen, and which keys do what. */
import type { QuestionsAsk } from '@holdpoint/protocol'
import { blankRow, indented, quotedRows, type Row, row, trusted, untrusted } from '../../../output/span.ts'
import { current, type QuestionsState, steering } from '../questions.ts'
import { choiceRows, emptyFooter, type KeyHint, type PromptFooter, type PromptSections } from './prompt-sections.ts'

export function questionsSections(ask: QuestionsAsk, part: QuestionsState): PromptSections {
  const { question, reply } = current(part, ask)
  const several = ask.questions.length > 1
  const head = [
    ...(several || question.header ? [headerRow(part.at, ask)] : []),
    ...quotedRows(question.question),
    ...(question.options.length > 0 ? [blankRow] : []),
  ]
  const options = choiceRows(
    question.options.map(({ label, description }) => ({ title: label, ...(description && { about: description }) })),
    reply.pick,
    question.multiSelect,
  )
  const preview = question.options[reply.pick.cursor]?.preview
  const other =
    reply.other && question.options.length > 0 && part.stage === 'choose'
      ? [otherRow(reply.other, question.secret)]
      : []
  const focus = options.findIndex(one => one.isCursor)
  return {
    body: [
      ...head,
      ...options.map(one => one.row),
      ...other,
      ...(preview === undefined ? [] : [blankRow, ...quotedRows(preview)]),
    ],
    focus: focus < 0 ? null : head.length + focus,
    ...footOf(ask, part),
  }
}

function headerRow(at: number, { questions }: QuestionsAsk): Row {
  const of = questions.length > 1 ? [trusted(`Question ${at + 1} of ${questions.length}`, 'quiet')] : []
  const header = questions[at]?.header ?? ''
  const said = header === '' ? [] : [untrusted(header, 'strong')]
  return row(...of, ...(of.length > 0 && said.length > 0 ? [trusted(' · ', 'quiet')] : []), ...said)
}

function otherRow(other: string, secret: boolean): Row {
  return indented(
    trusted('o  ', 'quiet'),
    trusted('your own: ', 'quiet'),
    secret ? trusted('•'.repeat(8)) : untrusted(other),
  )
}

function footOf(ask: QuestionsAsk, part: QuestionsState): PromptFooter {
  const { question, reply } = current(part, ask)
  const several = ask.questions.length > 1
  if (part.stage === 'reason')
    return { ...emptyFooter, typed: { label: 'Reason', line: part.reason }, keys: [['Enter', 'rejects with it'], back] }
  if (part.stage === 'other')
    return {
      ...emptyFooter,
      typed: { label: question.secret ? 'Secret' : 'Answer', line: reply.line, secret: question.secret },
      keys: [
        ['Enter', 'takes it'],
        ...(question.secret ? [] : [[steering.edit, 'opens your editor'] as const]),
        ...(several ? [[steering.skip, 'leaves it out'] as const] : []),
        [steering.reject, 'rejects'],
        ...(question.options.length > 0 || part.at > 0 ? [back] : []),
      ],
    }
  const { length } = question.options
  return {
    ...emptyFooter,
    keys: [
      ['↑↓', 'move'],
      [length > 1 ? `1–${length}` : '1', 'choose'],
      ...(question.multiSelect ? [['space', 'marks'] as const] : []),
      ['Enter', 'confirms'],
      ...(question.allowOther ? [['o', 'another answer'] as const] : []),
      ...(several ? [['s', 'leave out'] as const] : []),
      ...(part.at > 0 ? [['←', 'back'] as const] : []),
      ['r', 'rejects'],
    ],
  }
}
const back: KeyHint = ['Esc', 'goes back']

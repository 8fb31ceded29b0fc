/** Builds the sections of a question: its text, its options, the preview of the selected option, and the key hints. */
import type { AnswerChoices } from '@holdpoint/client'
import type { QuestionsAsk } from '@holdpoint/protocol'
import { blankRow, codeRows, indented, quotedRows, type Row, row, trusted, untrusted } from '../../../output/span.ts'
import { current, type QuestionsState, typedCommands } from '../questions.ts'
import { questionTexts as texts } from '../texts.ts'
import {
  backKey,
  emptyFooter,
  letterFooter,
  listRows,
  type PromptFooter,
  type PromptSections,
} from './prompt-sections.ts'

export function questionsSections(ask: QuestionsAsk, state: QuestionsState, offered: AnswerChoices): PromptSections {
  const { question, entry } = current(state, ask)
  const head = [
    ...(ask.questions.length > 1 || question.header ? [headerRow(state.index, ask)] : []),
    ...quotedRows(question.question),
    ...(question.options.length > 0 ? [blankRow] : []),
  ]
  const options = listRows(
    question.options.map(({ label, description }) => ({ title: label, ...(description && { about: description }) })),
    entry.selection,
    question.multiSelect,
  )
  const preview = question.options[entry.selection.cursor]?.preview
  const hasOwnAnswer = entry.other && question.options.length > 0 && state.step === 'choose'
  const focus = options.findIndex(item => item.isCursor)
  return {
    body: [
      ...head,
      ...options.map(item => item.row),
      ...(hasOwnAnswer ? [ownAnswerRow(entry.other, question.secret)] : []),
      ...(preview === undefined ? [] : [blankRow, ...codeRows(preview)]),
    ],
    focus: focus < 0 ? null : head.length + focus,
    ...footerOf(ask, state, offered),
  }
}

function headerRow(index: number, { questions }: QuestionsAsk): Row {
  const position = questions.length > 1 ? [trusted(`Question ${index + 1} of ${questions.length}`, 'quiet')] : []
  const header = questions[index]?.header ?? ''
  const title = header === '' ? [] : [untrusted(header, 'strong')]
  const separator = position.length > 0 && title.length > 0 ? [trusted(' · ', 'quiet')] : []
  return row(...position, ...separator, ...title)
}

function ownAnswerRow(text: string, secret: boolean): Row {
  return indented(
    trusted('o  ', 'quiet'),
    trusted(texts.ownAnswer, 'quiet'),
    secret ? trusted('•'.repeat(8)) : untrusted(text),
  )
}

function footerOf(ask: QuestionsAsk, state: QuestionsState, { askBack }: AnswerChoices): PromptFooter {
  const { question, entry } = current(state, ask)
  const hasSeveral = ask.questions.length > 1
  if (state.step === 'reason')
    return {
      ...emptyFooter,
      input: { label: 'Reason', line: state.reason },
      keys: [['Enter', 'decline with this reason'], backKey],
    }
  if (state.step === 'letter') return letterFooter
  if (state.step === 'question')
    return {
      ...emptyFooter,
      input: { label: 'Question', line: state.reason },
      keys: [['Enter', 'ask the agent'], backKey],
    }
  if (state.step === 'other')
    return {
      ...emptyFooter,
      input: { label: question.secret ? 'Secret' : 'Answer', line: entry.line, secret: question.secret },
      keys: [
        ['Enter', 'submit'],
        ...(question.secret ? [] : [[typedCommands.edit, 'open your editor'] as const]),
        ...(hasSeveral ? [[typedCommands.skip, 'skip'] as const] : []),
        [typedCommands.decline, '[reason]'],
        ...(askBack ? [[typedCommands.ask, 'ask back'] as const] : []),
        ...(question.options.length > 0 || state.index > 0 ? [backKey] : []),
      ],
    }
  const { length } = question.options
  return {
    ...emptyFooter,
    keys: [
      ['↑↓', 'move'],
      [length > 1 ? `1–${length}` : '1', 'choose'],
      ...(question.multiSelect ? [['space', 'mark'] as const] : []),
      ['Enter', 'confirm'],
      ...(question.allowOther ? [['o', 'another answer'] as const] : []),
      ...(hasSeveral ? [['s', 'skip'] as const] : []),
      ...(state.index > 0 ? [['←', 'back'] as const] : []),
      ['r', 'decline'],
      ...(askBack ? [['w', 'ask back'] as const] : []),
    ],
  }
}

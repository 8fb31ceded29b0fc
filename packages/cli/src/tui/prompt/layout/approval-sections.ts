/** Builds the sections of an approval: the whole request, the notes that go with the answer, and the key hints. */
import type { ApprovalAsk } from '@holdpoint/protocol'
import { planRows } from '../../../output/plan.ts'
import { askRows, suggestionsOf } from '../../../output/request.ts'
import { blankRow, type Row, row, trusted, untrustedCode, untrustedLine } from '../../../output/span.ts'
import { type ApprovalState, editedAsk, keepMode } from '../approval.ts'
import type { Prompt } from '../prompt.ts'
import { approvalTexts as texts } from '../texts.ts'
import { backKey, emptyFooter, listRows, type PromptFooter, type PromptSections } from './prompt-sections.ts'

/** Caches the body rows by request, because a request never changes and the diff of two long texts is slow. */
const bodyCache = new WeakMap<object, readonly Row[]>()

function bodyOf(ask: ApprovalAsk, state: ApprovalState): readonly Row[] {
  const key = state.input ?? ask
  const { suggestions: _suggestions, ...shown } = editedAsk(ask, state)
  const body = bodyCache.get(key) ?? askRows(shown, planRows)
  bodyCache.set(key, body)
  return body
}

/** When a list opens, this many of its items are scrolled into view. */
const visibleItems = 4

export function approvalSections(
  { modes, isFullyShown }: Prompt,
  ask: ApprovalAsk,
  state: ApprovalState,
): PromptSections {
  const isPlan = ask.plan !== undefined
  const body = bodyOf(ask, state)
  const list = listOf(state, ask, modes)
  const notes = noteRows(state, ask)
  if (!list) return { body, focus: null, ...footerOf(state, ask, { isPlan, isFullyShown }), notes }
  const items = listRows(list.items, state.selection, false)
  const above = [...body, blankRow, row(trusted(list.question, 'strong'))]
  const { cursor } = state.selection
  const focus = above.length + (cursor < 0 ? Math.min(items.length, visibleItems) - 1 : cursor)
  return {
    body: [...above, ...items.map(item => item.row)],
    focus,
    chosen: cursor,
    ...emptyFooter,
    notes,
    keys: [[`↑↓ 1–${items.length}`, 'choose'], ['Enter', list.action], backKey],
  }
}

/** Returns rows for what the person has prepared: an edit, a reason, a note, and a suggestion to remember. */
function noteRows({ input, edit, note, reason, step, suggestion }: ApprovalState, ask: ApprovalAsk): readonly Row[] {
  const remembered = suggestionsOf(ask).find(({ id }) => id === suggestion)
  return [
    ...(input ? [row(trusted(texts.edited, 'strong'))] : []),
    ...(edit !== null && !input && ask.editable ? [row(trusted(texts.unfinishedEdit, 'quiet'))] : []),
    ...(reason && step !== 'reason' ? [row(trusted(texts.draftReason, 'quiet'), untrustedLine(reason))] : []),
    ...(note && step !== 'note' ? [row(trusted(texts.note, 'quiet'), untrustedLine(note))] : []),
    ...(remembered
      ? [
          row(
            trusted(texts.remembered, 'quiet'),
            untrustedCode(remembered.label),
            trusted(' ('),
            untrustedCode(remembered.scope),
            trusted(')'),
          ),
        ]
      : []),
  ]
}

/** Returns the list of modes or suggestions to choose from. The list belongs to the body, because a long list would not fit in the footer. */
function listOf({ step }: ApprovalState, ask: ApprovalAsk, modes: readonly string[]) {
  if (step === 'mode') {
    const items = [keepMode, ...modes].map(title => ({ title }))
    return { question: texts.chooseMode, items, action: 'approve' }
  }
  if (step !== 'always') return null
  return {
    question: texts.chooseSuggestion,
    items: suggestionsOf(ask).map(({ label, scope }) => ({ title: label, about: scope, isCode: true })),
    action: 'allow and remember',
  }
}

interface FooterContext {
  readonly isPlan: boolean
  readonly isFullyShown: boolean
}

function footerOf(state: ApprovalState, ask: ApprovalAsk, { isPlan, isFullyShown }: FooterContext): PromptFooter {
  const { line } = state
  switch (state.step) {
    case 'note':
      return { ...emptyFooter, input: { label: 'Note', line }, keys: [['Enter', 'add'], backKey] }
    case 'reason':
      return {
        ...emptyFooter,
        input: { label: isPlan ? 'Feedback' : 'Reason', line },
        keys: [['Enter', isPlan ? 'send feedback' : 'deny with this reason'], backKey],
      }
    case 'confirm':
      return {
        ...emptyFooter,
        decision: [row(trusted(texts.dangerous, 'waiting'))],
        input: { label: 'Allow', line },
        keys: [['Enter', 'confirm'], backKey],
      }
    case 'mode':
    case 'always':
      return emptyFooter
    case 'decide':
      return {
        ...emptyFooter,
        decision: [decisionRow(isPlan, isFullyShown)],
        keys: [
          ...(ask.editable ? [['e', 'edit'] as const] : []),
          ['n', 'note'],
          ...(suggestionsOf(ask).length > 0 ? [['s', 'always…'] as const] : []),
          ['R', isPlan ? 'keep planning, with feedback' : 'deny with a reason'],
          ['x', 'deny and stop'],
        ],
      }
  }
}

function decisionRow(isPlan: boolean, isFullyShown: boolean): Row {
  const yes = `[a] ${isPlan ? 'Approve' : 'Allow'}`
  const no = `[r] ${isPlan ? 'Keep planning' : 'Deny'}`
  return isFullyShown
    ? row(trusted(`${yes}  ${no}`, 'strong'))
    : row(trusted(`${yes} (read to the end first)`, 'quiet'), trusted(`  ${no}`, 'strong'))
}

/** Builds the sections of an approval: the whole request, the notes that go with the answer, and the key hints. */
import {
  type AnswerChoices,
  commentCountLabel,
  previewLabel,
  ruleDurations,
  ruleExplanation,
  ruleLabel,
  ruleLimitsLabel,
  ruleScopeLabel,
  shownRisk,
  suggestionScopeLabel,
} from '@holdpoint/client'
import type { ApprovalAsk, Request, RuleDraft, RuleId } from '@holdpoint/protocol'
import type { RuleOffer } from '../../../gateway-client/rule-offers.ts'
import { planRows } from '../../../output/plan.ts'
import { askRows, riskRow, scopeSpan, suggestionsOf } from '../../../output/request.ts'
import { blankRow, labelled, type Row, row, trusted, untrustedCode, untrustedLine } from '../../../output/span.ts'
import { watcherRows } from '../../../output/watcher.ts'
import { type ApprovalState, editedAsk, isCheckingRisk, keepMode } from '../approval.ts'
import { isPromptDangerous, type Prompt } from '../prompt.ts'
import { approvalTexts as texts } from '../texts.ts'
import {
  backKey,
  emptyFooter,
  type ListOption,
  listRows,
  type PromptFooter,
  type PromptSections,
} from './prompt-sections.ts'

/** Caches the body rows by request, because a request never changes and the diff of two long texts is slow. */
const bodyCache = new WeakMap<object, readonly Row[]>()

function bodyOf(request: Request, ask: ApprovalAsk, state: ApprovalState): readonly Row[] {
  const key = state.input ?? ask
  const { suggestions: _suggestions, ...shown } = editedAsk(ask, state)
  const body = bodyCache.get(key) ?? askRows(shown, planRows)
  bodyCache.set(key, body)
  const watcher = watcherRows(request)
  if (isCheckingRisk(state)) return [labelled('Risk', trusted(texts.checkingRisk, 'quiet')), ...watcher, ...body]
  const risk = state.editedRisk ?? shownRisk(request)
  return [...(risk ? [riskRow(risk)] : []), ...watcher, ...body]
}

/** When a list opens, this many of its items are scrolled into view. */
const visibleItems = 4

export function approvalSections(prompt: Prompt, ask: ApprovalAsk, state: ApprovalState): PromptSections {
  const { request, modes, offered } = prompt
  const isPlan = ask.plan !== undefined
  const body = bodyOf(request, ask, state)
  const list = listOf(state, ask, modes)
  const notes = noteRows(state, ask, offered.note)
  if (!list)
    return {
      body,
      focus: null,
      ...footerOf(state, ask, {
        isPlan,
        offered,
        notYet: notYetText(prompt, state),
        isDangerous: isPromptDangerous(prompt) && !isCheckingRisk(state),
      }),
      notes,
    }
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
    keys: items.length === 0 ? [backKey] : [[`↑↓ 1–${items.length}`, 'choose'], ['Enter', list.action], backKey],
  }
}

/** Returns rows for what the person has prepared: an edit, a reason, a note, and what to remember. */
function noteRows(state: ApprovalState, ask: ApprovalAsk, takesNote: boolean): readonly Row[] {
  const { input, edit, note, reason, question, comments, step, suggestion, remember, offers } = state
  const remembered = suggestionsOf(ask).find(({ id }) => id === suggestion)
  return [
    ...(input ? [row(trusted(texts.edited, 'strong'))] : []),
    ...(edit !== null && !input && ask.editable ? [row(trusted(texts.unfinishedEdit, 'quiet'))] : []),
    ...(reason && step !== 'reason' ? [row(trusted(texts.draftReason, 'quiet'), untrustedLine(reason))] : []),
    ...(question && step !== 'question' ? [row(trusted(texts.draftQuestion, 'quiet'), untrustedLine(question))] : []),
    ...(comments.length > 0 ? [commentsRow(comments.length, takesNote)] : []),
    ...(note && step !== 'note' ? [row(trusted(texts.note, 'quiet'), untrustedLine(note))] : []),
    ...(remembered
      ? [
          row(
            trusted(texts.remembered, 'quiet'),
            untrustedCode(remembered.label),
            trusted(' ('),
            scopeSpan(remembered.scope),
            trusted(')'),
          ),
        ]
      : []),
    ...(remember
      ? [row(trusted(texts.remembered, 'quiet'), trusted(rememberedLabel(remember, offers?.now ?? 0)))]
      : []),
  ]
}

function commentsRow(count: number, takesNote: boolean): Row {
  const where = takesNote ? '' : texts.commentsOnlyWithDenial
  return row(trusted(`${texts.comments(commentCountLabel(count))}${where}`, 'quiet'))
}

function rememberedLabel(rule: RuleDraft, now: number): string {
  const made = { id: '' as RuleId, madeBy: '', madeAt: now, version: 1 } // the label shows none of these
  const limits = ruleLimitsLabel({ ...rule, ...made }, now)
  return [ruleLabel(rule), ruleScopeLabel(rule), limits].filter(part => part !== '').join(', ')
}

/** Returns the list of modes, rules or durations to choose from. The list belongs to the body, because a long list would not fit in the footer. */
function listOf({ step, offers, offer }: ApprovalState, ask: ApprovalAsk, modes: readonly string[]): List | null {
  if (step === 'mode') {
    const items = [keepMode, ...modes].map(title => ({ title }))
    return { question: texts.chooseMode, items, action: 'approve' }
  }
  if (step === 'duration' && offer)
    return {
      question: `${ruleLabel(offer.rule)} ${ruleScopeLabel(offer.rule)}. ${texts.chooseDuration}`,
      items: ruleDurations.map(({ label }) => ({ title: label })),
      action: 'allow and remember',
    }
  if (step !== 'always') return null
  if (!offers) return { question: texts.loadingRules, items: [], action: 'choose' }
  return {
    question: texts.chooseRule,
    items: [
      ...offers.items.map(one => ({ title: ruleLabel(one.rule), isEscaped: true, about: aboutOffer(one, offers.now) })),
      ...suggestionsOf(ask).map(({ label, scope }) => ({
        title: label,
        about: `${suggestionScopeLabel(scope) ?? scope}, ${texts.agentSuggests}`,
        isCode: true,
      })),
    ],
    action: offers.items.length > 0 ? 'choose' : 'allow and remember',
  }
}

interface List {
  readonly question: string
  readonly items: readonly ListOption[]
  readonly action: string
}

/** Returns how much a rule covers, what it would have matched, and what else it answers now. */
function aboutOffer({ rule, runsProjectCode, preview }: RuleOffer, now: number): string {
  // The pending requests that the rule matches include this request.
  const others = preview.pending.length - 1
  return [
    ruleExplanation(rule),
    ...(runsProjectCode ? [texts.runsProjectCode] : []),
    previewLabel(preview, now),
    ...(others > 0 ? [texts.alsoPending(others, preview.pendingComplete)] : []),
  ].join(' ')
}

interface FooterContext {
  readonly isDangerous: boolean
  readonly isPlan: boolean
  readonly offered: AnswerChoices
  /** Returns why the request cannot be allowed yet; null if it can. */
  readonly notYet: string | null
}

function notYetText({ isFullyShown }: Prompt, state: ApprovalState): string | null {
  if (!isFullyShown) return texts.readFirst
  return isCheckingRisk(state) ? texts.checkFirst : null
}

function footerOf(state: ApprovalState, ask: ApprovalAsk, context: FooterContext): PromptFooter {
  const { isPlan, offered } = context
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
    case 'question':
      return { ...emptyFooter, input: { label: 'Question', line }, keys: [['Enter', 'ask the agent'], backKey] }
    case 'confirm':
      return {
        ...emptyFooter,
        decision: [row(trusted(ask.caution?.defaultToNo ? texts.flagged : texts.dangerous, 'no'))],
        input: { label: 'Allow', line },
        keys: [['Enter', 'confirm'], backKey],
      }
    case 'mode':
    case 'always':
    case 'duration':
      return emptyFooter
    case 'decide':
      return {
        ...emptyFooter,
        decision: [decisionRow(context)],
        keys: [
          ...(ask.editable && offered.edit ? [['e', 'edit'] as const] : []),
          ...(offered.note ? [['n', 'note'] as const] : []),
          ...(ask.caution?.noRemember || isPlan ? [] : [['s', 'always…'] as const]),
          ['d', isPlan ? 'keep planning, with feedback' : 'deny with a reason'],
          ...(offered.askBack ? [['w', 'ask back'] as const] : []),
          ...(offered.stop.deny ? [['x', 'deny and stop'] as const] : []),
        ],
      }
  }
}

function decisionRow({ isPlan, notYet, isDangerous, offered }: FooterContext): Row {
  const yes = `[a] ${isPlan ? 'Approve' : 'Allow'}${isDangerous ? '…' : ''}`
  const no = `[r] ${isPlan ? 'Keep planning' : 'Deny'}${offered.denialEndsTurn ? ` ${texts.endsTurn}` : ''}`
  return notYet === null
    ? row(trusted(`${yes}  ${no}`, 'strong'))
    : row(trusted(`${yes} ${notYet}`, 'quiet'), trusted(`  ${no}`, 'strong'))
}

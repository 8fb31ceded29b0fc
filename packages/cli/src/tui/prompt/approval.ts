/** An approval, key by key. One key allows only what was shown to its end and what the agent's own program does not warn of. */
import { applyEdit, editableOf, effectiveAsk } from '@holdpoint/client'
import type { ApprovalAsk, JsonObject } from '@holdpoint/protocol'
import { suggestionsOf } from '../../output/request.ts'
import { emptySelection, type ListSelection, pressSelection } from './list-selection.ts'
import { decisionOf, type PromptInput, type PromptStep, typing } from './prompt-step.ts'
import { emptyTextInput, type TextInput, textInputWith } from './text-input.ts'

export interface ApprovalState {
  readonly kind: 'approval'
  /** What the keys mean now: a decision, the words of a note or a reason, the word that confirms, the mode of a plan, what is to be remembered. */
  readonly stage: 'decide' | 'note' | 'reason' | 'confirm' | 'mode' | 'always'
  readonly line: TextInput
  readonly pick: ListSelection
  readonly note: string
  /** Of a rejection that was begun and left. */
  readonly reason: string
  /** What the editor opens, where that is not what was asked. */
  readonly edit: string | null
  /** As a person has edited it. */
  readonly input: JsonObject | null
  readonly mode: string | null
  /** Which of the agent's offers is taken with the allow. */
  readonly suggestion: string | null
}
export interface ApprovalAround {
  /** Whether all of it has been on the screen. */
  readonly shown: boolean
  /** Those a plan may be approved into. */
  readonly modes: readonly string[]
  /** Which choice of a list has been on the screen to its end. */
  readonly read: number | null
}

export const confirmWord = 'allow'
export const keepMode = 'as it is'

/** Nothing is decided: whoever goes back begins here. */
const undecided = { stage: 'decide', line: emptyTextInput, pick: emptySelection, mode: null, suggestion: null } as const

export function openApproval(): ApprovalState {
  return { kind: 'approval', note: '', reason: '', edit: null, input: null, ...undecided }
}

/** The ask with the person's changes in it. */
export function editedAsk(ask: ApprovalAsk, { input }: ApprovalState): ApprovalAsk {
  const edited = input && effectiveAsk(ask, { at: 0, by: 'person', answer: { kind: 'allow', input } })
  return edited?.kind === 'approval' ? edited : ask
}

export function pressApproval(
  part: ApprovalState,
  ask: ApprovalAsk,
  press: PromptInput,
  around: ApprovalAround,
): PromptStep<ApprovalState> {
  switch (part.stage) {
    case 'decide':
      return decide(part, ask, press, around)
    case 'mode':
      return chooseMode(part, ask, press, around)
    case 'always':
      return chooseOffer(part, ask, press, around)
    case 'note':
    case 'reason':
    case 'confirm':
      return type(part, ask, press, around)
  }
}

function decide(
  part: ApprovalState,
  ask: ApprovalAsk,
  press: PromptInput,
  around: ApprovalAround,
): PromptStep<ApprovalState> {
  if (press.name === 'edited') return takeEdit(part, ask, press.text)
  switch (decisionOf(press)) {
    case 'a':
    case '1':
      return allow(part, ask, around)
    case 'r':
    case '2':
      return { part, answer: { kind: 'deny', ...(part.note && { reason: part.note }) } }
    case 'x':
      return { part, answer: { kind: 'deny', interrupt: true, ...(part.note && { reason: part.note }) } }
    case 'R':
      return { part: { ...part, stage: 'reason', line: textInputWith(part.reason) } }
    case 'n':
      return { part: { ...part, stage: 'note', line: textInputWith(part.note) } }
    case 's':
      if (suggestionsOf(ask).length === 0)
        return { part, hint: 'The agent’s own program offers nothing to remember here: a allows it once.' }
      return around.shown ? { part: { ...part, stage: 'always', pick: emptySelection } } : { part, hint: unshown }
    case 'e':
      if (!ask.editable) return { part, hint: 'This runs as it is, or not at all: it cannot be edited.' }
      return { part, edit: part.edit ?? editableOf(ask).text }
    default:
      return { part, unused: true }
  }
}

const unshown = 'Not all of it has been shown yet: space shows more. Then it can be allowed.'

const unread = 'Not all of this one has been shown yet: space shows more. Then Enter takes it.'

/** Allow, unless something stands in its way. */
function allow(part: ApprovalState, ask: ApprovalAsk, { shown, modes }: ApprovalAround): PromptStep<ApprovalState> {
  if (!shown) return { part, hint: unshown }
  if (ask.plan !== undefined && modes.length > 0 && part.mode === null)
    return { part: { ...part, stage: 'mode', pick: emptySelection } }
  if (ask.caution?.defaultToNo && part.stage !== 'confirm')
    return { part: { ...part, stage: 'confirm', line: emptyTextInput } }
  const { input, note, mode, suggestion } = part
  const into = mode === null || mode === keepMode ? {} : { mode }
  const from = suggestion === null ? {} : { suggestion }
  return { part, answer: { kind: 'allow', ...(input && { input }), ...(note && { note }), ...into, ...from } }
}

function chooseMode(
  part: ApprovalState,
  ask: ApprovalAsk,
  press: PromptInput,
  around: ApprovalAround,
): PromptStep<ApprovalState> {
  const modes = [keepMode, ...around.modes]
  return choose(part, press, { choices: modes, ...around }, mode =>
    allow({ ...part, mode, stage: 'decide' }, ask, around),
  )
}
function chooseOffer(
  part: ApprovalState,
  ask: ApprovalAsk,
  press: PromptInput,
  around: ApprovalAround,
): PromptStep<ApprovalState> {
  const offers = suggestionsOf(ask).map(({ id }) => id)
  return choose(part, press, { choices: offers, ...around }, suggestion =>
    allow({ ...part, suggestion, stage: 'decide' }, ask, around),
  )
}

/** From a list, by which it is allowed: what was pasted does not. */
function choose(
  part: ApprovalState,
  press: PromptInput,
  { choices, read }: { readonly choices: readonly string[]; readonly read: number | null },
  take: (choice: string) => PromptStep<ApprovalState>,
): PromptStep<ApprovalState> {
  if (press.name === 'escape') return { part: { ...part, ...undecided } }
  if (press.name === 'enter' && press.alone) {
    const choice = choices[part.pick.cursor]
    if (choice === undefined) return { part, hint: 'Choose one by its number or with the arrows; Esc goes back.' }
    return read === part.pick.cursor ? take(choice) : { part, hint: unread }
  }
  const pick = press.name === 'edited' ? null : pressSelection(part.pick, press, { count: choices.length, many: false })
  return pick ? { part: { ...part, pick } } : { part, unused: true }
}

function type(
  part: ApprovalState,
  ask: ApprovalAsk,
  press: PromptInput,
  around: ApprovalAround,
): PromptStep<ApprovalState> {
  const typed = typing(part.line, press)
  if (!typed) return { part, unused: true }
  if ('line' in typed) return { part: { ...part, line: typed.line } }
  const back: ApprovalState = { ...part, ...undecided }
  if ('left' in typed) return { part: part.stage === 'reason' ? { ...back, reason: part.line.text } : back }
  if (part.stage === 'note') return { part: { ...back, note: typed.done } }
  if (part.stage === 'reason') {
    if (typed.done === '') return { part, hint: 'Say why, then Enter; Esc goes back, and r rejects without a reason.' }
    return { part, answer: { kind: 'deny', reason: typed.done } }
  }
  if (typed.done !== confirmWord)
    return {
      part: { ...part, line: emptyTextInput },
      hint: `To allow it type ${confirmWord}, the whole word, then Enter; Esc goes back.`,
    }
  return allow(part, ask, around)
}

function takeEdit(part: ApprovalState, ask: ApprovalAsk, text: string): PromptStep<ApprovalState> {
  const editable = editableOf(ask)
  // Editors end a file with a line feed that nobody typed.
  const trimmed = editable.text.endsWith('\n') ? text : text.replace(/\n$/, '')
  if (trimmed === editable.text)
    return { part: { ...part, input: null, edit: null }, hint: 'Nothing was changed: this is what was asked.' }
  const edited = applyEdit(ask, editable, trimmed)
  if ('problem' in edited)
    return { part: { ...part, edit: trimmed }, hint: `${edited.problem} Nothing was changed; e edits again.` }
  return { part: { ...part, input: edited.input, edit: trimmed } }
}

/** An edit that was begun elsewhere; none where it says what was asked. */
export function pendingEdit(ask: ApprovalAsk, edit: string | undefined): string | null {
  return edit === undefined || edit === editableOf(ask).text ? null : edit
}

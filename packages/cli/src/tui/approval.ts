/** An approval, key by key. One key allows only what was shown to its end and what the agent's own program does not warn of. */
import { applyEdit, asItRan, editableOf } from '@holdpoint/client'
import type { ApprovalAsk, JsonObject } from '@holdpoint/protocol'
import { emptyLine, type Line, lineOf } from './line.ts'
import { emptyPick, type Pick, pressPick } from './pick.ts'
import { decisionOf, type Press, type Step, typing } from './step.ts'

export interface ApprovalPart {
  readonly kind: 'approval'
  /** What the keys mean now: a decision, the words of a note or a reason, the word that confirms, the mode of a plan. */
  readonly stage: 'decide' | 'note' | 'reason' | 'confirm' | 'mode'
  readonly line: Line
  readonly pick: Pick
  readonly note: string
  /** As a person has edited it. */
  readonly input: JsonObject | null
  readonly mode: string | null
}
export interface ApprovalAround {
  /** Whether all of it has been on the screen. */
  readonly shown: boolean
  /** Those a plan may be approved into. */
  readonly modes: readonly string[]
}

export const confirmWord = 'allow'
export const keepMode = 'as it is'

export function openApproval(): ApprovalPart {
  return { kind: 'approval', stage: 'decide', line: emptyLine, pick: emptyPick, note: '', input: null, mode: null }
}

/** The ask with the person's changes in it. */
export function editedAsk(ask: ApprovalAsk, { input }: ApprovalPart): ApprovalAsk {
  const edited = input && asItRan(ask, { at: 0, by: 'person', answer: { kind: 'allow', input } })
  return edited?.kind === 'approval' ? edited : ask
}

export function pressApproval(
  part: ApprovalPart,
  ask: ApprovalAsk,
  press: Press,
  around: ApprovalAround,
): Step<ApprovalPart> {
  switch (part.stage) {
    case 'decide':
      return decide(part, ask, press, around)
    case 'mode':
      return chooseMode(part, ask, press, around)
    case 'note':
    case 'reason':
    case 'confirm':
      return type(part, ask, press, around)
  }
}

function decide(part: ApprovalPart, ask: ApprovalAsk, press: Press, around: ApprovalAround): Step<ApprovalPart> {
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
      return { part: { ...part, stage: 'reason', line: emptyLine } }
    case 'n':
      return { part: { ...part, stage: 'note', line: lineOf(part.note) } }
    case 'e':
      if (!ask.editable) return { part, hint: 'This runs as it is, or not at all: it cannot be edited.' }
      return { part, edit: editableOf(editedAsk(ask, part)).text }
    default:
      return { part, unused: true }
  }
}

/** Allow, unless something stands in its way. */
function allow(part: ApprovalPart, ask: ApprovalAsk, { shown, modes }: ApprovalAround): Step<ApprovalPart> {
  if (!shown) return { part, hint: 'Not all of it has been shown yet: space shows more. Then it can be allowed.' }
  if (ask.plan !== undefined && modes.length > 0 && part.mode === null)
    return { part: { ...part, stage: 'mode', pick: emptyPick } }
  if (ask.caution?.defaultToNo && part.stage !== 'confirm')
    return { part: { ...part, stage: 'confirm', line: emptyLine } }
  const { input, note, mode } = part
  const into = mode === null || mode === keepMode ? {} : { mode }
  return { part, answer: { kind: 'allow', ...(input && { input }), ...(note && { note }), ...into } }
}

function chooseMode(part: ApprovalPart, ask: ApprovalAsk, press: Press, around: ApprovalAround): Step<ApprovalPart> {
  const choices = [keepMode, ...around.modes]
  if (press.name === 'escape') return { part: { ...part, stage: 'decide' } }
  // It allows: what was pasted does not.
  if (press.name === 'enter' && press.alone) {
    const mode = choices[part.pick.cursor]
    if (mode === undefined) return { part, hint: 'Choose a mode by its number or with the arrows; Esc goes back.' }
    return allow({ ...part, mode, stage: 'decide' }, ask, around)
  }
  const pick = press.name === 'edited' ? null : pressPick(part.pick, press, { count: choices.length, many: false })
  return pick ? { part: { ...part, pick } } : { part, unused: true }
}

function type(part: ApprovalPart, ask: ApprovalAsk, press: Press, around: ApprovalAround): Step<ApprovalPart> {
  const typed = typing(part.line, press)
  if (!typed) return { part, unused: true }
  if ('line' in typed) return { part: { ...part, line: typed.line } }
  const back: ApprovalPart = { ...part, stage: 'decide', line: emptyLine }
  if ('left' in typed) return { part: { ...back, mode: null } }
  if (part.stage === 'note') return { part: { ...back, note: typed.done } }
  if (part.stage === 'reason') {
    if (typed.done === '') return { part, hint: 'Say why, then Enter; Esc goes back, and r rejects without a reason.' }
    return { part, answer: { kind: 'deny', reason: typed.done } }
  }
  if (typed.done !== confirmWord)
    return {
      part: { ...part, line: emptyLine },
      hint: `To allow it type ${confirmWord}, the whole word, then Enter; Esc goes back.`,
    }
  return allow(part, ask, around)
}

function takeEdit(part: ApprovalPart, ask: ApprovalAsk, text: string): Step<ApprovalPart> {
  const now = editedAsk(ask, part)
  const editable = editableOf(now)
  // Editors end a file with a line feed that nobody typed.
  const trimmed = editable.text.endsWith('\n') ? text : text.replace(/\n$/, '')
  if (trimmed === editable.text) return { part, hint: 'Nothing was changed.' }
  const edited = applyEdit(now, editable, trimmed)
  if ('problem' in edited) return { part, hint: `${edited.problem} Nothing was changed; e edits again.` }
  return { part: { ...part, input: edited.input } }
}

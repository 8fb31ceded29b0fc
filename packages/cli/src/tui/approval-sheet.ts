/** What an approval shows, beside the whole of what it asks: which keys do what. */
import type { ApprovalAsk } from '@holdpoint/protocol'
import { planRows } from '../text/plan.ts'
import { askRows, offersOf } from '../text/request.ts'
import { blank, brief, ours, type Row, row, theirs } from '../text/span.ts'
import { type ApprovalPart, confirmWord, editedAsk, keepMode } from './approval.ts'
import type { Prompt } from './prompt.ts'
import { choiceRows, emptyFoot, type Foot, type KeyHint, type Sheet } from './sheet-rows.ts'

/** What is asked does not change; a comparison of two long texts is made once. */
const bodies = new WeakMap<object, readonly Row[]>()

function bodyOf(ask: ApprovalAsk, part: ApprovalPart): readonly Row[] {
  const known = part.input ?? ask
  const { suggestions: _offers, ...whole } = editedAsk(ask, part)
  const body = bodies.get(known) ?? askRows(whole, planRows)
  bodies.set(known, body)
  return body
}

const firstInSight = 4

export function approvalSheet({ modes, shown }: Prompt, ask: ApprovalAsk, part: ApprovalPart): Sheet {
  const isPlan = ask.plan !== undefined
  const body = bodyOf(ask, part)
  const list = listOf(part, ask, modes)
  const notes = noteRows(part, ask)
  if (!list) return { body, focus: null, ...footOf(part, ask, { isPlan, shown }), notes }
  const choices = choiceRows(list.choices, part.pick, false)
  const above = [...body, blank, row(ours(list.question, 'strong'))]
  // Before the first move the beginning of the list is in sight.
  const { cursor } = part.pick
  const focus = above.length + (cursor < 0 ? Math.min(choices.length, firstInSight) - 1 : cursor)
  return {
    body: [...above, ...choices.map(one => one.row)],
    focus,
    chosen: cursor,
    ...emptyFoot,
    notes,
    keys: [[`↑↓ 1–${choices.length}`, 'choose'], ['Enter', list.does], back],
  }
}

/** What goes with the answer. */
function noteRows({ input, edit, note, reason, stage, suggestion }: ApprovalPart, ask: ApprovalAsk): readonly Row[] {
  const taken = offersOf(ask).find(({ id }) => id === suggestion)
  return [
    ...(input ? [row(ours('Changed by you: this is what would run.', 'strong'))] : []),
    ...(edit !== null && !input && ask.editable ? [row(ours('Edit begun: e opens it.', 'quiet'))] : []),
    ...(reason && stage !== 'reason' ? [row(ours('Reason begun: ', 'quiet'), brief(reason))] : []),
    ...(note && stage !== 'note' ? [row(ours('With your note: ', 'quiet'), brief(note))] : []),
    ...(taken
      ? [row(ours('And from now on: ', 'quiet'), theirs(taken.label), ours(' ('), theirs(taken.scope), ours(')'))]
      : []),
  ]
}

/** What is chosen from, below what is asked: it may be longer than the foot has room for. */
function listOf({ stage }: ApprovalPart, ask: ApprovalAsk, modes: readonly string[]) {
  if (stage === 'mode') {
    const choices = [{ title: keepMode, about: 'leave the mode alone' }, ...modes.map(title => ({ title }))]
    return { question: 'Approve, and go on in which mode?', choices, does: 'approves' }
  }
  if (stage !== 'always') return null
  return {
    question: 'Allow it, and the agent’s own program remembers:',
    choices: offersOf(ask).map(({ label, scope }) => ({ title: label, about: scope })),
    does: 'allows and remembers',
  }
}

interface Around {
  readonly isPlan: boolean
  readonly shown: boolean
}

function footOf(part: ApprovalPart, ask: ApprovalAsk, { isPlan, shown }: Around): Foot {
  const { line } = part
  switch (part.stage) {
    case 'note':
      return { ...emptyFoot, typed: { label: 'Note', line }, keys: [['Enter', 'adds it'], back] }
    case 'reason':
      return {
        ...emptyFoot,
        typed: { label: isPlan ? 'Feedback' : 'Reason', line },
        keys: [['Enter', 'rejects with it'], back],
      }
    case 'confirm':
      return {
        ...emptyFoot,
        foot: [row(ours(`The agent’s own program warns of this. To allow it, type ${confirmWord}.`, 'waiting'))],
        typed: { label: 'Allow', line },
        keys: [['Enter', 'takes the word'], back],
      }
    case 'mode':
    case 'always':
      return emptyFoot
    case 'decide':
      return {
        ...emptyFoot,
        foot: [decisionRow(isPlan, shown)],
        keys: [
          ...(ask.editable ? [['e', 'edit'] as const] : []),
          ['n', 'note'],
          ...(offersOf(ask).length > 0 ? [['s', 'always …'] as const] : []),
          ['R', isPlan ? 'keep planning, with feedback' : 'reject with a reason'],
          ['x', 'reject and stop'],
        ],
      }
  }
}
const back: KeyHint = ['Esc', 'goes back']

function decisionRow(isPlan: boolean, shown: boolean): Row {
  const yes = `[a] ${isPlan ? 'Approve' : 'Allow'}`
  const no = `[r] ${isPlan ? 'Keep planning' : 'Reject'}`
  return shown
    ? row(ours(`${yes}  ${no}`, 'strong'))
    : row(ours(`${yes} (after the end)`, 'quiet'), ours(`  ${no}`, 'strong'))
}

/** What an approval shows, beside the whole of what it asks: which keys do what. */
import type { ApprovalAsk } from '@holdpoint/protocol'
import { askRows } from '../text/request.ts'
import { ours, type Row, row, theirs } from '../text/span.ts'
import { type ApprovalPart, confirmWord, editedAsk, keepMode } from './approval.ts'
import type { Prompt } from './prompt.ts'
import { choiceRows, type KeyHint, lineRows, type Sheet } from './sheet-rows.ts'

/** What is asked does not change; a comparison of two long texts is made once. */
const bodies = new WeakMap<object, readonly Row[]>()

function bodyOf(ask: ApprovalAsk, part: ApprovalPart): readonly Row[] {
  const known = part.input ?? ask
  const { suggestions: _offers, ...whole } = editedAsk(ask, part)
  const body = bodies.get(known) ?? askRows(whole)
  bodies.set(known, body)
  return body
}

export function approvalSheet({ modes, shown }: Prompt, ask: ApprovalAsk, part: ApprovalPart): Sheet {
  const isPlan = ask.plan !== undefined
  const body = bodyOf(ask, part)
  const notes: Row[] = [
    ...(part.input ? [row(ours('Changed by you: this is what would run.', 'strong'))] : []),
    ...(part.note && part.stage !== 'note' ? [row(ours('With your note: ', 'quiet'), theirs(part.note))] : []),
  ]
  const { foot, keys } = footOf(part, ask, { isPlan, modes, shown })
  return { body, focus: null, foot: [...notes, ...foot], keys }
}

interface Around {
  readonly isPlan: boolean
  readonly modes: readonly string[]
  readonly shown: boolean
}
type Foot = Pick<Sheet, 'foot' | 'keys'>

function footOf(part: ApprovalPart, ask: ApprovalAsk, { isPlan, modes, shown }: Around): Foot {
  switch (part.stage) {
    case 'note':
      return { foot: lineRows('Note', part.line), keys: [['Enter', 'adds it'], back] }
    case 'reason':
      return { foot: lineRows(isPlan ? 'Feedback' : 'Reason', part.line), keys: [['Enter', 'rejects with it'], back] }
    case 'confirm':
      return {
        foot: [
          row(ours(`The agent’s own program warns of this. To allow it, type ${confirmWord}.`, 'waiting')),
          ...lineRows('Allow', part.line),
        ],
        keys: [['Enter', 'takes the word'], back],
      }
    case 'mode': {
      const titles = [`${keepMode}: leave the mode alone`, ...modes].map(title => ({ title }))
      return {
        foot: [
          row(ours('Approve, and go on in which mode?', 'strong')),
          ...choiceRows(titles, part.pick, false).map(one => one.row),
        ],
        keys: [[`↑↓ 1–${titles.length}`, 'choose'], ['Enter', 'approves'], back],
      }
    }
    case 'decide':
      return {
        foot: [decisionRow(isPlan, shown)],
        keys: [
          ...(ask.editable ? [['e', 'edit'] as const] : []),
          ['n', 'note'],
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

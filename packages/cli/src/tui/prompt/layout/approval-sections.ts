/** What an approval shows, beside the whole of what it asks: which keys do what. */
import type { ApprovalAsk } from '@holdpoint/protocol'
import { planRows } from '../../../output/plan.ts'
import { askRows, suggestionsOf } from '../../../output/request.ts'
import { blankRow, type Row, row, trusted, untrusted, untrustedLine } from '../../../output/span.ts'
import { type ApprovalState, confirmWord, editedAsk, keepMode } from '../approval.ts'
import type { Prompt } from '../prompt.ts'
import { choiceRows, emptyFooter, type KeyHint, type PromptFooter, type PromptSections } from './prompt-sections.ts'

/** What is asked does not change; a comparison of two long texts is made once. */
const bodies = new WeakMap<object, readonly Row[]>()

function bodyOf(ask: ApprovalAsk, part: ApprovalState): readonly Row[] {
  const known = part.input ?? ask
  const { suggestions: _offers, ...whole } = editedAsk(ask, part)
  const body = bodies.get(known) ?? askRows(whole, planRows)
  bodies.set(known, body)
  return body
}

const firstInSight = 4

export function approvalSections({ modes, shown }: Prompt, ask: ApprovalAsk, part: ApprovalState): PromptSections {
  const isPlan = ask.plan !== undefined
  const body = bodyOf(ask, part)
  const list = listOf(part, ask, modes)
  const notes = noteRows(part, ask)
  if (!list) return { body, focus: null, ...footOf(part, ask, { isPlan, shown }), notes }
  const choices = choiceRows(list.choices, part.pick, false)
  const above = [...body, blankRow, row(trusted(list.question, 'strong'))]
  // Before the first move the beginning of the list is in sight.
  const { cursor } = part.pick
  const focus = above.length + (cursor < 0 ? Math.min(choices.length, firstInSight) - 1 : cursor)
  return {
    body: [...above, ...choices.map(one => one.row)],
    focus,
    chosen: cursor,
    ...emptyFooter,
    notes,
    keys: [[`↑↓ 1–${choices.length}`, 'choose'], ['Enter', list.does], back],
  }
}

/** What goes with the answer. */
function noteRows({ input, edit, note, reason, stage, suggestion }: ApprovalState, ask: ApprovalAsk): readonly Row[] {
  const taken = suggestionsOf(ask).find(({ id }) => id === suggestion)
  return [
    ...(input ? [row(trusted('Changed by you: this is what would run.', 'strong'))] : []),
    ...(edit !== null && !input && ask.editable ? [row(trusted('Edit begun: e opens it.', 'quiet'))] : []),
    ...(reason && stage !== 'reason' ? [row(trusted('Reason begun: ', 'quiet'), untrustedLine(reason))] : []),
    ...(note && stage !== 'note' ? [row(trusted('With your note: ', 'quiet'), untrustedLine(note))] : []),
    ...(taken
      ? [
          row(
            trusted('And from now on: ', 'quiet'),
            untrusted(taken.label),
            trusted(' ('),
            untrusted(taken.scope),
            trusted(')'),
          ),
        ]
      : []),
  ]
}

/** What is chosen from, below what is asked: it may be longer than the foot has room for. */
function listOf({ stage }: ApprovalState, ask: ApprovalAsk, modes: readonly string[]) {
  if (stage === 'mode') {
    const choices = [{ title: keepMode, about: 'leave the mode alone' }, ...modes.map(title => ({ title }))]
    return { question: 'Approve, and go on in which mode?', choices, does: 'approves' }
  }
  if (stage !== 'always') return null
  return {
    question: 'Allow it, and the agent’s own program remembers:',
    choices: suggestionsOf(ask).map(({ label, scope }) => ({ title: label, about: scope })),
    does: 'allows and remembers',
  }
}

interface Around {
  readonly isPlan: boolean
  readonly shown: boolean
}

function footOf(part: ApprovalState, ask: ApprovalAsk, { isPlan, shown }: Around): PromptFooter {
  const { line } = part
  switch (part.stage) {
    case 'note':
      return { ...emptyFooter, typed: { label: 'Note', line }, keys: [['Enter', 'adds it'], back] }
    case 'reason':
      return {
        ...emptyFooter,
        typed: { label: isPlan ? 'Feedback' : 'Reason', line },
        keys: [['Enter', 'rejects with it'], back],
      }
    case 'confirm':
      return {
        ...emptyFooter,
        foot: [row(trusted(`The agent’s own program warns of this. To allow it, type ${confirmWord}.`, 'waiting'))],
        typed: { label: 'Allow', line },
        keys: [['Enter', 'takes the word'], back],
      }
    case 'mode':
    case 'always':
      return emptyFooter
    case 'decide':
      return {
        ...emptyFooter,
        foot: [decisionRow(isPlan, shown)],
        keys: [
          ...(ask.editable ? [['e', 'edit'] as const] : []),
          ['n', 'note'],
          ...(suggestionsOf(ask).length > 0 ? [['s', 'always …'] as const] : []),
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
    ? row(trusted(`${yes}  ${no}`, 'strong'))
    : row(trusted(`${yes} (after the end)`, 'quiet'), trusted(`  ${no}`, 'strong'))
}

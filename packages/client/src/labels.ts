/** Labels that page and terminal share, for resolutions, deliveries, session states, drivers, line endings, ages and the input of tool calls. */
import {
  type AgentReason,
  type Answer,
  type Comment,
  type Delivery,
  type DeliveryState,
  externalInfo,
  type Resolution,
  type Session,
} from '@holdpoint/protocol'
import { exactText, labelText, singleLine } from './display-text.ts'
import type { LineEndings } from './line-diff.ts'

const deliveryStates: Record<DeliveryState, string> = {
  waiting: 'the agent has not fetched it yet',
  handed: 'being delivered',
  taken: 'delivered',
  unknown: 'it is unknown whether the agent received it',
  undeliverable: 'could not be delivered',
}
const agentReasons: Record<AgentReason, string> = {
  withdrawn: 'withdrawn by the agent',
  interrupted: 'canceled: turn interrupted',
  session_ended: 'canceled: session ended',
  lost: 'canceled: agent lost',
}
const answerKinds: Record<Answer['kind'], string> = {
  allow: 'allowed',
  deny: 'denied',
  answers: 'answered',
  submit: 'submitted',
  decline: 'declined',
}

/** Returns a label that says how a request was resolved, such as “denied by ana via cli”. The person with the id `me` is called “you”. The label is escaped for display. `resolutionRemark` returns what the person said. */
export function resolutionLabel(resolution: Resolution, me?: string): string {
  const { by, via, answer } = resolution
  const label = answerLabel(resolution)
  if (by === 'agent' || by === 'deadline') return label
  const mode =
    answer?.kind === 'allow' && answer.mode !== undefined ? `, continuing in mode ${exactText(answer.mode)}` : ''
  const who = answeredByLabel(resolution, me)
  if (by === 'rule') return `${label} by ${who}${mode}`
  const comments = commentsOf(answer).length
  const commented = comments === 0 ? '' : `, with ${commentCountLabel(comments)}`
  const added = answer?.kind === 'allow' && answer.remember ? ', with a new rule' : ''
  const where = via === undefined || via === 'page' ? '' : ` via ${exactText(via)}`
  return `${label} by ${who}${where}${added}${commented}${mode}`
}

/** Returns what was answered, such as “allowed with changes” or “nobody answered in time”. */
export function answerLabel({ by, answer, reason, editedDigest }: Resolution): string {
  if (by === 'agent') return agentReasons[reason as AgentReason] ?? 'ended by the agent' // a newer gateway may send a reason that is not in the list
  if (by === 'deadline') return 'nobody answered in time'
  if (answer && isAskedBack(answer)) return 'asked back'
  return `${answer ? answerKinds[answer.kind] : 'resolved'}${editedDigest === undefined ? '' : ' with changes'}`
}

/** Returns whether the person asked the agent a question instead of deciding. */
export function isAskedBack(answer: Answer): boolean {
  return (answer.kind === 'deny' || answer.kind === 'decline') && answer.askBack === true
}

/** Returns the comments of an answer. */
export function commentsOf(answer: Answer | undefined): readonly Comment[] {
  return (answer?.kind === 'allow' || answer?.kind === 'deny' ? answer.comments : undefined) ?? []
}

export function commentCountLabel(count: number): string {
  return count === 1 ? '1 comment' : `${count} comments`
}

/** Returns who answered, such as “you”, “ana”, “a rule” or “the watcher budget”; an empty string if nobody did. The label is escaped for display. */
export function answeredByLabel({ by, person, personId, watcher }: Resolution, me?: string): string {
  if (by === 'agent' || by === 'deadline') return ''
  if (by === 'rule') return watcher ? `the watcher ${exactText(watcher.name)}` : 'a rule'
  return personId !== undefined && personId === me ? 'you' : labelText(person ?? 'someone')
}

/** Returns what the person said with the answer, in one line: the reason, the note or the chosen options. The text is not escaped. */
export function resolutionRemark({ by, answer }: Resolution): string {
  return by === 'person' && answer ? singleLine(answerText(answer)) : ''
}

/** Returns label and remark as one escaped string, for surfaces that draw right-to-left letters in their own order. */
export function resolutionText(resolution: Resolution, me?: string): string {
  const remark = resolutionRemark(resolution)
  return `${resolutionLabel(resolution, me)}${remark === '' ? '' : `: ${labelText(remark)}`}`
}

function answerText(answer: Answer): string {
  switch (answer.kind) {
    case 'deny':
    case 'decline':
      return answer.reason ?? ''
    case 'allow':
      return answer.note ?? ''
    case 'answers':
      return answer.answers.map(({ chosen, other }) => [...chosen, ...(other ? [other] : [])].join(', ')).join('; ')
    case 'submit':
      return ''
  }
}

/** Returns whether a resolution is positive, negative, a question back to the agent, or neutral. */
export function resolutionTone({ by, answer }: Resolution): 'yes' | 'no' | 'asked' | 'none' {
  if (by === 'agent' || !answer) return 'none'
  if (isAskedBack(answer)) return 'asked'
  return answer.kind === 'deny' || answer.kind === 'decline' ? 'no' : 'yes'
}

/** Returns a label that says whether the answer has reached the agent. The label is shown after `resolutionLabel` and is escaped for display. */
export function deliveryLabel({ state, reason }: Delivery): string {
  return `${deliveryStates[state]}${reason === undefined ? '' : ` (${labelText(singleLine(reason))})`}`
}

/** Shown with a pending request whose agent is disconnected. */
export const agentDisconnectedLabels = {
  short: 'agent disconnected',
  long: 'The agent is disconnected. Your answer waits until it comes back.',
} as const

/** What is wrong with an agent. */
export type Trouble = 'failed' | 'lost' | 'disconnected'

/** Returns what is wrong with the agent of a session and since when, or null. A working agent has no trouble, even if its last turn failed. */
export function troubleOf(session: Session): { readonly kind: Trouble; readonly at: number } | null {
  const { state, stateChangedAt, ending, endedAt, lastTurn, process } = session
  if (state === 'ended')
    return ending?.reason === 'failed' || ending?.reason === 'lost'
      ? { kind: ending.reason, at: endedAt ?? stateChangedAt }
      : null
  if (state === 'disconnected') return { kind: 'disconnected', at: stateChangedAt }
  if (state !== 'idle' && state !== 'parked') return null
  if (lastTurn?.ending === 'failed') return { kind: 'failed', at: lastTurn.at ?? stateChangedAt }
  return process?.state === 'lost' ? { kind: 'lost', at: process.changedAt } : null
}

const troubleLabels: Record<Trouble, string> = {
  failed: 'last turn failed',
  lost: 'agent lost',
  disconnected: 'disconnected',
}

export function stateLabel(session: Session): string {
  const { state, pending, ending } = session
  if (state === 'ended') return ending && ending.reason !== 'done' ? `ended: ${ending.reason}` : 'ended'
  const trouble = troubleOf(session)
  const isParked = state === 'parked' && trouble?.kind !== 'lost'
  const parts = [
    ...(isParked ? ['parked'] : []),
    ...(trouble ? [troubleLabels[trouble.kind]] : []),
    ...(pending > 0 ? ['waiting for you'] : []),
  ]
  return parts.length === 0 ? state : parts.join(', ')
}

const driverTitles: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  external: externalInfo.title,
  rehearsal: 'Rehearsal agent',
}

/** Returns the name of a driver: a fixed name for built-in drivers, otherwise the title that the runner reports. The name is not escaped. */
export function driverLabel(name: string, title?: string): string {
  return (Object.hasOwn(driverTitles, name) ? driverTitles[name] : undefined) ?? (title || name)
}

/** Returns the title of a session, or the name of its driver if the session has no title. The result is not escaped. */
export function sessionName({ title, driver }: Pick<Session, 'title' | 'driver'>): string {
  return title || driverLabel(driver)
}

const lineEndLabels: Record<LineEndings, string> = {
  lf: '',
  crlf: 'CRLF line endings',
  mixed: 'mixed line endings: ⟨CR⟩ marks lines that end in CRLF',
}
/** Returns a label for unusual line endings, and an empty string for LF. */
export function lineEndingsLabel(ends: LineEndings): string {
  return lineEndLabels[ends]
}

const units = [
  ['d', 24 * 3600_000],
  ['h', 3600_000],
  ['min', 60_000],
] as const

/** Returns how long a session has waited for people, including the time in which it waits now. */
export function waitedFor({ waitedMs = 0, waitingSince }: Session, now: number): number {
  return waitedMs + (waitingSince === undefined ? 0 : Math.max(0, now - waitingSince))
}

/** Returns a waiting time such as “1 h 5 min”, or null for less than a second. */
export function waitedTime(ms: number): string | null {
  if (ms < 1000) return null
  const [seconds, minutes] = [Math.floor(ms / 1000), Math.floor(ms / 60_000)]
  if (minutes < 1) return `${seconds} s`
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Returns the elapsed time in its largest unit, such as “5 min”, or “now” for less than a minute. */
export function timeSince(fromMs: number, nowMs: number): string {
  const ageMs = nowMs - fromMs
  const unit = units.find(([, unitMs]) => ageMs >= unitMs)
  return unit ? `${Math.floor(ageMs / unit[1])} ${unit[0]}` : 'now'
}

const suggestionScopes: Readonly<Record<string, string>> = {
  session: 'this session',
  localSettings: 'this project, only you',
  projectSettings: 'this project, everyone',
  userSettings: 'all your projects',
}

/** Returns where an accepted suggestion of the agent's program applies, or null if only the program knows its name of the scope. */
export function suggestionScopeLabel(scope: string): string | null {
  return Object.hasOwn(suggestionScopes, scope) ? (suggestionScopes[scope] ?? null) : null
}

/** Labels for the parts of a tool call's input. */
export const toolInputLabels = {
  folder: 'In',
  file: 'File',
  files: 'Files',
  cell: 'Cell',
  pattern: 'Pattern',
  address: 'Address',
  subagent: 'Subagent',
  movedTo: 'Moved to',
  changes: { write: 'Write', edit: 'Edit', delete: 'Delete', move: 'Move' },
} as const

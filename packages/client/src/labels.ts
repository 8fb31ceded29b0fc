/** What became of a request, and how a session stands, in the words that every surface uses. */
import {
  type AgentReason,
  type Answer,
  type Delivery,
  type DeliveryState,
  escapeInvisible,
  type Resolution,
  type Session,
} from '@holdpoint/protocol'
import { singleLine } from './display-text.ts'
import type { LineEnds } from './line-diff.ts'

const deliveryStates: Record<DeliveryState, string> = {
  waiting: 'on its way to the agent',
  handed: 'being delivered',
  taken: 'delivered',
  unknown: 'not known whether the agent got it',
  undeliverable: 'could not be delivered',
}
const agentReasons: Record<AgentReason, string> = {
  withdrawn: 'withdrawn by the agent',
  interrupted: 'dropped: the turn was interrupted',
  session_ended: 'dropped: the session ended',
  lost: 'dropped: the agent was lost',
}
const answerKinds: Record<Answer['kind'], string> = {
  allow: 'allowed',
  deny: 'denied',
  answers: 'answered',
  submit: 'filled in',
  decline: 'declined',
}

/** `me` is the reader's name, who is then called you. */
export function resolutionLabel({ by, person, via, answer, reason, editedDigest }: Resolution, me?: string): string {
  if (by === 'agent') return agentReasons[reason as AgentReason] ?? 'ended by the agent' // the closed list, unless a newer gateway speaks
  if (by === 'deadline') return 'nobody answered in time'
  const said = answer ? answerKinds[answer.kind] : 'resolved'
  const into = answer?.kind === 'allow' && answer.mode !== undefined ? ` into mode ${answer.mode}` : ''
  const how = `${said}${editedDigest === undefined ? '' : ' with changes'}${into}`
  if (by === 'rule') return escapeInvisible(`${how} by a rule`)
  const who = person !== undefined && person === me ? 'you' : (person ?? 'someone')
  const where = via === undefined || via === 'page' ? '' : ` via ${via}`
  const words = answer ? singleLine(wordsOf(answer)) : ''
  return escapeInvisible(`${how} by ${who}${where}${words === '' ? '' : `: ${words}`}`)
}

function wordsOf(answer: Answer): string {
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

export function resolutionTone({ by, answer }: Resolution): 'yes' | 'no' | 'none' {
  if (by === 'agent' || !answer) return 'none'
  return answer.kind === 'deny' || answer.kind === 'decline' ? 'no' : 'yes'
}

export function deliveryLabel({ state, reason }: Delivery): string {
  return `${deliveryStates[state]}${reason === undefined ? '' : ` (${escapeInvisible(singleLine(reason))})`}`
}

export function stateLabel({ state, pending, ending }: Session): string {
  if (state === 'ended') return ending && ending.reason !== 'done' ? `ended: ${ending.reason}` : 'ended'
  if (pending > 0) return state === 'parked' ? 'parked, waits for you' : 'waits for you'
  return state
}

const drivers: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  external: 'Connected agent',
  rehearsal: 'Rehearsal agent',
}

/** What drives a session, as people call it: ours by our words, any other by the title that its runner gives it. Not yet revealed. */
export function driverLabel(name: string, title?: string): string {
  return (Object.hasOwn(drivers, name) ? drivers[name] : undefined) ?? (title || name)
}

/** What a session is called. Not yet revealed. */
export function sessionName({ title, driver }: Pick<Session, 'title' | 'driver'>): string {
  return title || driverLabel(driver)
}

const endWords: Record<LineEnds, string> = {
  lf: '',
  crlf: 'CRLF line ends',
  mixed: 'mixed line ends: ⟨CR⟩ stands where a line ends in CRLF',
}
/** Empty where there is nothing to say. */
export function lineEndLabel(ends: LineEnds): string {
  return endWords[ends]
}

const steps = [
  ['d', 24 * 3600_000],
  ['h', 3600_000],
  ['min', 60_000],
] as const

/** How long ago, in the largest unit that fits. */
export function timeSince(fromMs: number, nowMs: number): string {
  const passed = nowMs - fromMs
  const step = steps.find(([, unitMs]) => passed >= unitMs)
  return step ? `${Math.floor(passed / step[1])} ${step[0]}` : 'now'
}

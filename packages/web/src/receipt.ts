/** What became of a request, in one line: when, what, by whom, and whether it reached the agent. */
import { type Answer, type Ask, type DeliveryState, type Request, type Resolution, reveal } from '@holdpoint/protocol'
import { words } from './agent-text.ts'
import { el, setText } from './dom.ts'

const deliveryWords: Record<DeliveryState, string> = {
  waiting: 'answered, on its way to the agent',
  handed: 'answered, being delivered',
  taken: 'delivered',
  unknown: 'not known whether the agent got it',
  undeliverable: 'could not be delivered',
}
const agentWords: Readonly<Record<string, string>> = {
  withdrawn: 'withdrawn by the agent',
  interrupted: 'dropped: the turn was interrupted',
  session_ended: 'dropped: the session ended',
  lost: 'dropped: the agent was lost',
}
const answerWords: Record<Answer['kind'], string> = {
  allow: 'allowed',
  deny: 'denied',
  answers: 'answered',
  submit: 'filled in',
  decline: 'declined',
}

/** What is asked, in a few words. */
export function summary(ask: Ask): string {
  switch (ask.kind) {
    case 'approval': {
      const { command, file_path: file } = ask.input
      return typeof command === 'string' ? command : typeof file === 'string' ? `${ask.tool} ${file}` : ask.title
    }
    case 'questions':
      return ask.questions.map(question => question.question).join(' · ')
    case 'form':
      return ask.title
  }
}

export function outcome({ by, person, via, answer, reason, editedDigest }: Resolution): string {
  if (by === 'agent') return agentWords[reason ?? ''] ?? 'ended by the agent'
  if (by === 'deadline') return 'nobody answered in time'
  const said = answer ? answerWords[answer.kind] : 'resolved'
  const how = editedDigest === undefined ? said : `${said} with changes`
  if (by === 'rule') return `${how} by a rule`
  const who = `${person ?? 'someone'}${via === undefined || via === 'page' ? '' : ` via ${via}`}`
  const words = answer ? wordsOf(answer) : ''
  return reveal(`${how} by ${who}${words === '' ? '' : `: ${words}`}`)
}

function wordsOf(answer: Answer): string {
  if (answer.kind === 'deny' || answer.kind === 'decline') return answer.reason ?? ''
  if (answer.kind !== 'answers') return ''
  return answer.answers
    .map(({ chosen, other }) => [...chosen, ...(other === undefined ? [] : [other])].join(', '))
    .join('; ')
}

export function tone({ by, answer }: Resolution): 'yes' | 'no' | 'none' {
  if (by === 'agent' || !answer) return 'none'
  return answer.kind === 'deny' || answer.kind === 'decline' ? 'no' : 'yes'
}

export function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
}

/** Where a person edited the input, that is what ran, and what the receipt must show (G7). */
function asItRan(ask: Ask, resolution: Resolution | null): Ask {
  const answer = resolution?.answer
  return ask.kind === 'approval' && answer?.kind === 'allow' && answer.input ? { ...ask, input: answer.input } : ask
}

export class Receipt {
  readonly root: HTMLElement
  readonly #delivery = el('span.delivery')

  constructor({ ask, resolution, ...request }: Request) {
    const kind = resolution ? tone(resolution) : 'none'
    const sign = { yes: '✓', no: '✕', none: '–' }[kind]
    this.root = el(
      `li.receipt.${kind}`,
      {},
      el('span.sign', {}, sign),
      el('time', {}, clockTime(resolution?.at ?? request.openedAt)),
      words(summary(asItRan(ask, resolution))),
      el('span.outcome', {}, `· ${resolution ? outcome(resolution) : 'no longer there'}`),
      this.#delivery,
    )
    this.update({ ask, resolution, ...request })
  }

  /** Whether more is to be heard of it. */
  update({ resolution, delivery }: Request): boolean {
    if (!resolution || resolution.by === 'agent') return false
    const why = delivery.reason === undefined ? '' : ` (${delivery.reason})`
    setText(this.#delivery, `· ${deliveryWords[delivery.state]}${why}`)
    this.#delivery.classList.toggle('bad', delivery.state === 'unknown' || delivery.state === 'undeliverable')
    return delivery.state === 'waiting' || delivery.state === 'handed'
  }
}

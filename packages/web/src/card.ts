/** One request on the page: who asks, since when, and the road of an answer from the press to the broadcast that ends it. */
import { type Answer, Fault, misfit, type Request, type Session } from '@holdpoint/protocol'
import { words } from './agent-text.ts'
import { approvalBody, approvalFoot } from './approval.ts'
import { el, setText } from './dom.ts'
import { formParts } from './form.ts'
import { questionsParts } from './questions.ts'
import { Receipt, tone } from './receipt.ts'

/** What the parts of a card may do with it. */
export interface CardHands {
  /** `sure` asks a second time before it acts. */
  button(label: string, classes: string, press: () => void, sure?: boolean): HTMLButtonElement
  send(button: HTMLButtonElement, answer: Answer): void
  say(problem: string): void
  /** The card looks different now: for a moment nothing on it can be pressed. */
  changed(): void
  refresh(): void
}
export type SendAnswer = (request: Request, answer: Answer) => Promise<Request>

const quietMs = 500
const armedMs = 6000

export class Card implements CardHands {
  readonly root: HTMLElement
  readonly #send: SendAnswer
  readonly #buttons: HTMLButtonElement[] = []
  readonly #body: HTMLElement
  readonly #foot: HTMLElement
  readonly #since = el('time')
  readonly #deadline = el('span.deadline')
  readonly #others = el('span.hint')
  readonly #problem = el('p.problem', { hidden: true, role: 'alert' })
  readonly #unread = el(
    'p.hint',
    { hidden: true },
    'There is more: scroll through it to the end, then it can be allowed.',
  )
  readonly #read = new WeakSet<Element>()
  #request: Request
  #receipt: Receipt | null = null
  #live = true
  #sending = false
  #quietTimer: ReturnType<typeof setTimeout> | undefined
  #focused: HTMLButtonElement | undefined

  constructor(request: Request, session: Session | undefined, send: SendAnswer) {
    this.#request = request
    this.#send = send
    const parts = this.#drawAsk(request)
    this.#body = parts.body
    this.#foot = el('div.foot', {}, this.#unread, parts.foot, this.#problem)
    const head = el('header', {}, who(request, session), el('span.when', {}, this.#others, this.#deadline, this.#since))
    this.root = el(
      'article.card',
      { tabIndex: -1, ariaLabel: 'A request that waits for you' },
      head,
      this.#body,
      this.#foot,
    )
    this.#body.addEventListener('scroll', () => this.refresh(), true)
    new ResizeObserver(() => this.refresh()).observe(this.#body)
    this.changed()
  }

  get request(): Request {
    return this.#request
  }
  /** Set once the request is resolved. */
  get receipt(): Receipt | null {
    return this.#receipt
  }

  #drawAsk({ id, ask }: Request): { body: HTMLElement; foot: HTMLElement } {
    switch (ask.kind) {
      case 'approval':
        return { body: approvalBody(ask), foot: approvalFoot(ask, this) }
      case 'questions':
        return questionsParts(id, ask, this)
      case 'form':
        return formParts(ask, this)
    }
  }

  update(request: Request, others: readonly string[], live: boolean): void {
    this.#request = request
    this.#live = live
    if (request.resolution && !this.#receipt) this.#fold(request)
    this.#receipt?.update(request)
    setText(this.#others, others.length > 0 ? `${others.join(', ')} is answering` : '')
    this.refresh()
  }

  /** It stays where it is and as tall as it was, so that nothing comes to lie under a pointer; the list puts it away later. */
  #fold(request: Request): void {
    this.#receipt = new Receipt(request)
    this.root.classList.add('resolved', request.resolution ? tone(request.resolution) : 'none')
    this.#body.inert = true
    for (const part of this.#foot.children) part.classList.add('gone')
    this.#foot.append(el('ul.receipts', {}, this.#receipt.root))
    this.#problem.hidden = true
  }

  tick(now: number): void {
    const { openedAt, deadlineAt, overdue, onDeadline } = this.#request
    setText(this.#since, span(now - openedAt))
    if (deadlineAt === null) return
    const leftMs = deadlineAt - now
    const late = overdue || (leftMs <= 0 && onDeadline === 'wait')
    const then = onDeadline === 'deny' ? ', then it goes on without an answer' : ''
    setText(this.#deadline, late ? `overdue by ${span(-leftMs)}` : `${countdown(leftMs)} left${then}`)
  }

  button(label: string, classes: string, press: () => void, sure = false): HTMLButtonElement {
    let armed: ReturnType<typeof setTimeout> | undefined
    const disarm = () => {
      clearTimeout(armed)
      armed = undefined
    }
    const onclick = () => {
      if (sure && armed === undefined) {
        setText(button, 'Really allow?')
        armed = setTimeout(() => {
          disarm()
          if (!this.#sending) setText(button, label)
        }, armedMs)
        return this.changed()
      }
      disarm()
      if (sure) setText(button, label)
      press()
    }
    const button = el(`button.${classes}`, { type: 'button', onclick }, label)
    this.#buttons.push(button)
    return button
  }

  send(button: HTMLButtonElement, answer: Answer): void {
    if (this.#sending || !this.#live || this.#receipt) return
    const wrong = misfit(this.#request.ask, answer)
    if (wrong) {
      this.say(`Not sent: ${wrong}.`)
      return
    }
    this.#problem.hidden = true
    const label = button.textContent
    setText(button, 'Sending…')
    this.#sending = true
    this.refresh()
    const giveBack = (problem: string) => {
      this.#sending = false
      setText(button, label)
      this.changed()
      this.say(problem)
    }
    this.#send(this.#request, answer).then(
      request => request.status === 'pending' && giveBack(`Counted. It needs ${request.needs} people to say so.`),
      (error: unknown) => {
        // Somebody was faster: the inbox shows who, and what they said.
        if (error instanceof Fault && error.code === 'already_resolved') return
        giveBack(`Not sent: ${error instanceof Error ? error.message : String(error)} What you wrote is still here.`)
      },
    )
  }

  say(problem: string): void {
    setText(this.#problem, problem)
    this.#problem.hidden = false
  }

  changed(): void {
    clearTimeout(this.#quietTimer)
    this.#focused = this.#buttons.find(button => button === document.activeElement) ?? this.#focused
    this.#quietTimer = setTimeout(() => {
      this.#quietTimer = undefined
      this.refresh()
      // A button that was disabled for the moment has lost the focus; it gets it back unless something else has it.
      if (document.activeElement === document.body) this.#focused?.focus()
      this.#focused = undefined
    }, quietMs)
    this.refresh()
  }

  refresh(): void {
    const unread = this.#request.ask.kind === 'approval' && this.#hasUnread()
    this.#unread.hidden = !unread
    const quiet = this.#quietTimer !== undefined
    const stuck = this.#sending || !this.#live || this.#receipt !== null
    for (const button of this.#buttons) {
      const { classList } = button
      const notYet = (unread && classList.contains('allow')) || classList.contains('notyet')
      button.disabled = quiet || stuck || notYet
      classList.toggle('dimmed', stuck || notYet)
    }
  }

  /** Nobody allows what was not shown whole: a block that scrolls must have been scrolled through. */
  #hasUnread(): boolean {
    let unread = false
    for (const block of this.#body.querySelectorAll<HTMLElement>('.code, .prose')) {
      if (block.scrollHeight <= block.clientHeight + 1) continue
      block.tabIndex = 0
      if (block.scrollTop + block.clientHeight >= block.scrollHeight - 4) this.#read.add(block)
      if (!this.#read.has(block)) unread = true
    }
    return unread
  }
}

function who({ session, agentPath }: Request, known: Session | undefined): HTMLElement {
  const title = el('a', { href: `#session=${session}` }, words(known?.title || session))
  const path = agentPath.flatMap(name => [el('span.hint', {}, ' → '), words(name)])
  return el('span.who', {}, title, ...path, known ? words(known.driver) : '', known ? words(known.cwd) : '')
}

function span(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} days`
}

function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

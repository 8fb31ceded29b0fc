/** The frame of one session: its state above the transcript, the composer below. */
import type { Call, Session } from '@holdpoint/protocol'
import { words } from './agent-text.ts'
import { el, setText } from './dom.ts'
import { said } from './starter.ts'

export class Conversation {
  readonly head = el('header.head')
  readonly composer: HTMLElement
  readonly #call: Call
  readonly #text = el('textarea', { rows: 2, placeholder: 'Say something to the agent' })
  readonly #problem = el('p.problem', { role: 'alert' })
  readonly #title = el('h1')
  readonly #about = el('p.hint')
  readonly #interrupt = el('button', { type: 'button', onclick: () => this.#do('interruptSession') }, 'Interrupt')
  readonly #end = el('button', { type: 'button', onclick: () => this.#do('endSession') }, 'End session')
  readonly #send = el('button.primary', { type: 'button', onclick: () => void this.#submit() }, 'Send')
  #session: Session | null = null

  constructor(call: Call) {
    this.#call = call
    this.head.append(el('div', {}, this.#title, this.#about), el('div.actions', {}, this.#interrupt, this.#end))
    const field = el('label.field', {}, el('span.offscreen', {}, 'Message to the agent'), this.#text)
    this.composer = el('div.composer', {}, field, this.#send, this.#problem)
    this.#text.onkeydown = event => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
      event.preventDefault()
      if (!event.repeat) void this.#submit()
    }
  }

  render(session: Session): void {
    if (this.#session?.id !== session.id) setText(this.#problem, '')
    this.#session = session
    const { state, ending, pending, driver, cwd, mode, model, cost, capabilities } = session
    setText(this.#title, words(session.title || driver).textContent)
    const now =
      pending > 0 ? `waits for you (${pending})` : state === 'ended' ? `ended: ${ending?.reason ?? 'done'}` : state
    const facts = [now, driver, mode, model, cwd, cost === null ? null : `$${cost.toFixed(4)}`]
    setText(this.#about, words(facts.filter(fact => fact).join(' · ')).textContent)
    const over = state === 'ended'
    const busy = pending > 0 || state === 'working' || state === 'starting'
    this.#interrupt.hidden = !busy || over || !capabilities.includes('interrupt')
    this.#end.hidden = over
    const speaks = capabilities.includes('messages') && (!over || capabilities.includes('resumable'))
    this.#text.disabled = !speaks
    this.#send.disabled = !speaks
    const placeholder = over && speaks ? 'It has ended; a message brings it back' : 'Say something to the agent'
    this.#text.placeholder = speaks ? placeholder : 'This agent takes no messages now'
  }

  #do(op: 'interruptSession' | 'endSession'): void {
    if (!this.#session) return
    setText(this.#problem, '')
    this.#call(op, { id: this.#session.id }).catch((error: unknown) => setText(this.#problem, said(error)))
  }

  async #submit(): Promise<void> {
    const text = this.#text.value.trim()
    if (!this.#session || text === '' || this.#send.disabled) return
    this.#send.disabled = true
    setText(this.#problem, '')
    try {
      await this.#call('sendMessage', { id: this.#session.id, text })
      // What was typed meanwhile is not what was sent.
      if (this.#text.value.trim() === text) this.#text.value = ''
    } catch (error) {
      setText(this.#problem, `Not sent: ${said(error)}`)
    } finally {
      this.#send.disabled = false
    }
  }
}

/** The dialog that starts a session: which agent, in which folder, with which first words. */
import type { Call, Output, SessionId } from '@holdpoint/protocol'
import { el, setText } from './dom.ts'

type Drivers = Output<'listDrivers'>['items']

export class Starter {
  readonly #call: Call
  readonly #onStarted: (session: SessionId) => void
  readonly #driver = el('select')
  readonly #missing = el('p.hint')
  readonly #cwd = el('input', { type: 'text', placeholder: 'The gateway’s own folder', spellcheck: false })
  readonly #prompt = el('textarea', { rows: 4, placeholder: 'What should it do?' })
  readonly #problem = el('p.problem', { role: 'alert' })
  readonly #start = el('button.primary', { type: 'button', onclick: () => void this.#submit() }, 'Start')
  readonly dialog: HTMLDialogElement
  #drivers: Drivers = []

  constructor(call: Call, onStarted: (session: SessionId) => void) {
    this.#call = call
    this.#onStarted = onStarted
    const cancel = el('button', { type: 'button', onclick: () => this.dialog.close() }, 'Cancel')
    this.#driver.onchange = () => this.#showMissing()
    this.dialog = el(
      'dialog',
      {},
      el('h1', {}, 'New session'),
      el('label.field', {}, 'Agent', this.#driver),
      this.#missing,
      el('label.field', {}, 'Working folder', this.#cwd),
      el('label.field', {}, 'First message', this.#prompt),
      this.#problem,
      el('div.actions', {}, this.#start, cancel),
    )
  }

  readonly open = async (): Promise<void> => {
    setText(this.#problem, '')
    this.dialog.showModal()
    try {
      // What no runner runs lives elsewhere and starts its sessions itself; what two runners offer is one choice.
      const offered = (await this.#call('listDrivers', {})).items.filter(driver => driver.runner !== null)
      this.#drivers = [...new Map(offered.map(driver => [driver.name, driver])).values()]
      const options = this.#drivers.map(({ name, title }) => el('option', { value: name }, title || name))
      const chosen = this.#driver.value
      this.#driver.replaceChildren(...options)
      if (this.#drivers.some(driver => driver.name === chosen)) this.#driver.value = chosen
      if (options.length === 0)
        setText(this.#problem, 'No runner offers an agent right now. Is `holdpoint up` running?')
    } catch (error) {
      setText(this.#problem, said(error))
    }
    this.#showMissing()
  }

  /** Straight in: what a newcomer sees first. */
  readonly rehearse = async (): Promise<void> => {
    const session = await this.#call('startSession', {
      driver: 'rehearsal',
      title: 'Rehearsal',
      prompt: 'Show me everything',
    })
    this.#onStarted(session.id)
  }

  #showMissing(): void {
    const driver = this.#drivers.find(({ name }) => name === this.#driver.value)
    setText(this.#missing, driver && !driver.ready ? (driver.missing ?? 'This agent is not ready to run.') : '')
    this.#start.disabled = !driver?.ready
  }

  async #submit(): Promise<void> {
    const [cwd, prompt] = [this.#cwd.value.trim(), this.#prompt.value.trim()]
    this.#start.disabled = true
    setText(this.#start, 'Starting…')
    try {
      const session = await this.#call('startSession', {
        driver: this.#driver.value,
        ...(cwd && { cwd }),
        ...(prompt && { prompt }),
      })
      this.#prompt.value = ''
      this.dialog.close()
      this.#onStarted(session.id)
    } catch (error) {
      setText(this.#problem, said(error))
    } finally {
      this.#start.disabled = false
      setText(this.#start, 'Start')
    }
  }
}

export function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

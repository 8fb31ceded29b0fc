/** Rings the bell when a new request waits, and shows the number of pending requests in the title of the terminal's window. */

/** Terminals that keep a stack of titles restore the old title; others ignore these sequences. */
const titleStack = { push: '\u001b[22;2t', pop: '\u001b[23;2t' }
const bell = '\u0007'

export class Attention {
  readonly #write: (text: string) => void
  readonly #rings: boolean
  #known: ReadonlySet<string> | null = null
  #title: string | null = null

  /** HOLDPOINT_BELL=off turns the bell off. */
  constructor(write: (text: string) => void, env: NodeJS.ProcessEnv = process.env) {
    this.#write = write
    this.#rings = env.HOLDPOINT_BELL !== 'off'
  }

  /** Takes the ids of all pending requests. Those that were pending when the view was opened do not ring. */
  update(pending: readonly string[]): void {
    const isNew = this.#known !== null && pending.some(id => !this.#known?.has(id))
    this.#known = new Set(pending)
    const title = pending.length === 0 ? 'Holdpoint' : `(${pending.length}) Holdpoint`
    const first = this.#title === null ? titleStack.push : ''
    if (title !== this.#title) this.#write(`${first}\u001b]2;${title}${bell}`)
    this.#title = title
    if (isNew && this.#rings) this.#write(bell)
  }
  /** Restores the title. */
  close(): void {
    if (this.#title !== null) this.#write(titleStack.pop)
    this.#title = null
  }
}

/** Keys as a terminal sends them: bytes in, named keys out. What comes in one go is told apart from what was pressed alone. */

export type NamedKey =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'pageup'
  | 'pagedown'
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'delete'
  | 'tab'
  | 'ctrl-c'
  | 'ctrl-d'
  | 'clear-line'
  | 'clear-word'
export type Key =
  /** Alone: nothing else came with it, so it is no paste and no type-ahead. */
  { readonly name: 'text'; readonly text: string; readonly alone: boolean } | { readonly name: NamedKey }

const controls: Readonly<Record<string, NamedKey>> = {
  '\r': 'enter',
  '\u0003': 'ctrl-c',
  '\u0004': 'ctrl-d',
  '\u0001': 'home',
  '\u0005': 'end',
  '\u0008': 'backspace',
  '\u007f': 'backspace',
  '\t': 'tab',
  '\u0015': 'clear-line',
  '\u0017': 'clear-word',
}
const sequences: Readonly<Record<string, NamedKey>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  '1~': 'home',
  '7~': 'home',
  '4~': 'end',
  '8~': 'end',
  '3~': 'delete',
  '5~': 'pageup',
  '6~': 'pagedown',
}
/** A whole control sequence: CSI with its parameters, or SS3 with one letter. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what terminals send
const sequence = /^\u001b(?:\[([0-?]*)[ -/]*([@-~])|O([@-~]))/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the beginning of one that is still to come
const unfinished = /^\u001b(?:\[[0-?]*[ -/]*|O)?$/
const pasteEnd = '\u001b[201~'

export class KeyReader {
  #rest = ''
  #pasting = false

  push(chunk: string): Key[] {
    this.#rest += chunk
    const keys: Key[] = []
    while (this.#rest !== '' && this.#take(keys)) {}
    const alone = keys.filter(key => key.name === 'text').length === 1
    return keys.map(key => (key.name === 'text' ? { ...key, alone: alone && key.alone } : key))
  }
  /** Whether an escape waits for the rest of its sequence. */
  get waits(): boolean {
    return this.#rest !== '' && !this.#pasting
  }
  /** Nothing followed: it was the key itself. */
  flush(): Key[] {
    if (!this.waits) return []
    this.#rest = ''
    return [{ name: 'escape' }]
  }

  /** Takes one key off the front; false where more must come first. */
  #take(keys: Key[]): boolean {
    if (this.#pasting) return this.#paste(keys)
    if (this.#rest.startsWith('\u001b')) return this.#escape(keys)
    const [char = ''] = this.#rest
    const named = controls[char]
    if (named) {
      this.#rest = this.#rest.slice(char.length)
      keys.push({ name: named })
      return true
    }
    this.#rest = this.#rest.slice(char.length)
    // A line feed is a line of a paste by a terminal that does not say so.
    if (char === '\n' || char >= ' ') keys.push({ name: 'text', text: char, alone: char !== '\n' })
    return true
  }

  #escape(keys: Key[]): boolean {
    const found = sequence.exec(this.#rest)
    if (!found) {
      if (unfinished.test(this.#rest)) return false
      // An escape right before something else: the key, or a meta that means nothing here.
      this.#rest = this.#rest.slice(1)
      keys.push({ name: 'escape' })
      return true
    }
    this.#rest = this.#rest.slice(found[0].length)
    const [, parameters = '', final = '', letter] = found
    if (`${parameters}${final}` === '200~') {
      this.#pasting = true
      return true
    }
    const named = sequences[letter ?? (final === '~' ? `${parameters.split(';')[0]}~` : final)]
    if (named) keys.push({ name: named })
    return true
  }

  #paste(keys: Key[]): boolean {
    const end = this.#rest.indexOf(pasteEnd)
    if (end === -1) return false
    const text = this.#rest.slice(0, end).replace(/\r\n?/g, '\n')
    this.#rest = this.#rest.slice(end + pasteEnd.length)
    this.#pasting = false
    if (text !== '') keys.push({ name: 'text', text, alone: false })
    return true
  }
}

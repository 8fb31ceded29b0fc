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
  | 'ctrl-l'
  | 'ctrl-z'
  | 'clear-line'
  | 'clear-word'
interface Pressed {
  /** Nothing else came with it, so it is no paste and no type-ahead. */
  readonly alone: boolean
  /** It came so long after the one before that it does not go on with that. */
  readonly late?: true
}
export type Key = (Pressed & { readonly name: 'text'; readonly text: string }) | (Pressed & { readonly name: NamedKey })

const controls: Readonly<Record<string, NamedKey>> = {
  '\r': 'enter',
  '\u0003': 'ctrl-c',
  '\u0004': 'ctrl-d',
  '\u000c': 'ctrl-l',
  '\u001a': 'ctrl-z',
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

/** So long after an escape the rest of its sequence would be there, over a slow line too. */
const escapeMs = 50
/** A paste that stands still for so long has lost its end. */
const pasteMs = 2000
/** Nobody pastes more than this: of more, the end is kept. */
const pasteMax = 1_000_000
const interrupt = '\u0003'

export class KeyParser {
  #rest = ''
  #pasting = false

  push(chunk: string): Key[] {
    // Pressed by someone whose paste does not end: a paste that holds one comes in larger pieces.
    if (this.#pasting && chunk === interrupt) {
      this.#pasting = false
      this.#rest = ''
    }
    this.#rest = this.#pasting ? (this.#rest + chunk).slice(-pasteMax) : this.#rest + chunk
    const keys: Key[] = []
    let taken = 0
    while (this.#rest !== '' && this.#take(keys)) taken++
    // What means nothing counts, too: a letter with anything beside it was not pressed by itself.
    return taken === 1 ? keys : keys.map(key => ({ ...key, alone: false }))
  }
  /** How long to wait for the rest of what has begun; null where nothing has. */
  get waitsMs(): number | null {
    if (this.#pasting) return pasteMs
    return this.#rest === '' ? null : escapeMs
  }
  /** Nothing followed: it was the key itself, or all of the paste that will come. */
  flush(): Key[] {
    const text = this.#rest
    this.#rest = ''
    if (this.#pasting) {
      this.#pasting = false
      return pasted(text)
    }
    return text === '' ? [] : [{ name: 'escape', alone: true }]
  }

  /** Takes one key off the front; false where more must come first. */
  #take(keys: Key[]): boolean {
    if (this.#pasting) return this.#paste(keys)
    if (this.#rest.startsWith('\u001b')) return this.#escape(keys)
    const [char = ''] = this.#rest
    this.#rest = this.#rest.slice(char.length)
    const named = controls[char]
    if (named) keys.push({ name: named, alone: true })
    // A line feed is a line of a paste by a terminal that does not say so.
    else if (char === '\n' || char >= ' ') keys.push({ name: 'text', text: char, alone: char !== '\n' })
    return true
  }

  #escape(keys: Key[]): boolean {
    const found = sequence.exec(this.#rest)
    if (!found) {
      if (unfinished.test(this.#rest)) return false
      // An escape right before something else: the key, or a meta that means nothing here.
      this.#rest = this.#rest.slice(1)
      keys.push({ name: 'escape', alone: true })
      return true
    }
    this.#rest = this.#rest.slice(found[0].length)
    const [, parameters = '', final = '', letter] = found
    if (`${parameters}${final}` === '200~') {
      this.#pasting = true
      return true
    }
    const named = sequences[letter ?? (final === '~' ? `${parameters.split(';')[0]}~` : final)]
    if (named) keys.push({ name: named, alone: true })
    return true
  }

  #paste(keys: Key[]): boolean {
    const end = this.#rest.indexOf(pasteEnd)
    if (end === -1) return false
    keys.push(...pasted(this.#rest.slice(0, end)))
    this.#rest = this.#rest.slice(end + pasteEnd.length)
    this.#pasting = false
    return true
  }
}

function pasted(text: string): Key[] {
  return text === '' ? [] : [{ name: 'text', text: text.replace(/\r\n?/g, '\n'), alone: false }]
}

/**
 * Parses the input of a terminal into named keys, and reports whether a key arrived alone.
 * `emitKeypressEvents` of node:readline is not enough. It does not report which keys came in the same chunk, so type-ahead would look like
 * single keypresses; it does not report a paste as one string; and it does not let Ctrl+C end a paste whose end marker is missing.
 */

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
  | 'ctrl-o'
  | 'ctrl-z'
  | 'clear-line'
  | 'clear-word'
interface KeyTiming {
  /** Whether the key was the only input in its chunk. Such a key is neither part of a paste nor typed ahead. */
  readonly alone: boolean
  /** Set if the key came so long after the previous key that a digit starts a new item number. */
  readonly afterPause?: true
}
export type Key =
  | (KeyTiming & { readonly name: 'text'; readonly text: string })
  | (KeyTiming & { readonly name: NamedKey })

const controls: Readonly<Record<string, NamedKey>> = {
  '\r': 'enter',
  '\u0003': 'ctrl-c',
  '\u0004': 'ctrl-d',
  '\u000c': 'ctrl-l',
  '\u000f': 'ctrl-o',
  '\u001a': 'ctrl-z',
  // Ctrl+\ detaches in dtach and abduco, so it leaves here too.
  '\u001c': 'ctrl-d',
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
/** Matches a complete control sequence: CSI with its parameters, or SS3 with one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences start with a control character
const sequence = /^\u001b(?:\[([0-?]*)[ -/]*([@-~])|O([@-~]))/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences start with a control character
const unfinishedSequence = /^\u001b(?:\[[0-?]*[ -/]*|O)?$/
const pasteEnd = '\u001b[201~'
/** A mouse report in the oldest format: this prefix, followed by three characters for the button and the position. The characters may be letters. */
const mousePrefix = '\u001b[M'
const mouseLength = mousePrefix.length + 3

/** An escape sequence that is still unfinished after this time counts as the Escape key. The rest of a real sequence arrives sooner, even over a slow connection. */
const escapeTimeoutMs = 50
/** If no input arrives for this long during a paste, its end marker is considered lost. */
const pasteTimeoutMs = 2000
/** While more input of a paste arrives, only this many of its last characters are kept. */
const pasteMax = 1_000_000
const interrupt = '\u0003'
/** Text that arrives this soon after several characters in one chunk belongs to the same paste into a terminal without bracketed paste. */
const pasteGapMs = 50

export class KeyParser {
  #input = ''
  #isPasting = false
  /** When the last chunk with several characters arrived. */
  #burstAt = Number.NEGATIVE_INFINITY

  push(chunk: string, now = performance.now()): Key[] {
    // A pasted Ctrl+C arrives in a larger chunk. A chunk that is only Ctrl+C means that the person pressed the key because the paste does not end.
    if (this.#isPasting && chunk === interrupt) {
      this.#isPasting = false
      this.#input = ''
    }
    this.#input = this.#isPasting ? (this.#input + chunk).slice(-pasteMax) : this.#input + chunk
    const keys: Key[] = []
    let count = 0
    while (this.#input !== '' && this.#parseOne(keys)) count++
    const isContinued = now - this.#burstAt < pasteGapMs
    const typed = keys.filter(({ name }) => name === 'text' || name === 'enter').length
    if (typed > 1 || (isContinued && typed > 0)) this.#burstAt = now
    // Unknown sequences count too, because a letter that arrives together with an unknown sequence was not pressed alone.
    return count === 1 && !isContinued ? keys : keys.map(key => ({ ...key, alone: false }))
  }
  /** How long to wait for the rest of an unfinished sequence or paste; null if no input is unfinished. */
  get flushAfterMs(): number | null {
    if (this.#isPasting) return pasteTimeoutMs
    return this.#input === '' ? null : escapeTimeoutMs
  }
  /** Returns the unfinished input as keys: an unfinished escape sequence as the Escape key, or a paste without an end marker as text. */
  flush(): Key[] {
    const text = this.#input
    this.#input = ''
    if (this.#isPasting) {
      this.#isPasting = false
      return pasteKeys(text)
    }
    return text === '' || text.startsWith(mousePrefix) ? [] : [{ name: 'escape', alone: true }]
  }

  /** Parses the first key of the input; returns false if the input is unfinished. */
  #parseOne(keys: Key[]): boolean {
    if (this.#isPasting) return this.#parsePaste(keys)
    if (this.#input.startsWith('\u001b')) return this.#parseEscape(keys)
    const [char = ''] = this.#input
    this.#input = this.#input.slice(char.length)
    const named = controls[char]
    if (named) keys.push({ name: named, alone: true })
    // Enter sends a carriage return, so a line feed counts as text pasted into a terminal without bracketed paste, and never as a key pressed alone.
    else if (char === '\n' || char >= ' ') keys.push({ name: 'text', text: char, alone: char !== '\n' })
    return true
  }

  #parseEscape(keys: Key[]): boolean {
    if (this.#input.startsWith(mousePrefix)) return this.#skipMouseReport()
    const found = sequence.exec(this.#input)
    if (!found) {
      if (unfinishedSequence.test(this.#input)) return false
      // An escape character right before another key is the Escape key or a Meta combination. Meta has no meaning here, so both count as Escape, followed by the other key.
      this.#input = this.#input.slice(1)
      keys.push({ name: 'escape', alone: true })
      return true
    }
    this.#input = this.#input.slice(found[0].length)
    const [, parameters = '', final = '', letter] = found
    if (`${parameters}${final}` === '200~') {
      this.#isPasting = true
      return true
    }
    const named = sequences[letter ?? (final === '~' ? `${parameters.split(';')[0]}~` : final)]
    if (named) keys.push({ name: named, alone: true })
    return true
  }

  #skipMouseReport(): boolean {
    if (this.#input.length < mouseLength) return false
    this.#input = this.#input.slice(mouseLength)
    return true
  }

  #parsePaste(keys: Key[]): boolean {
    const end = this.#input.indexOf(pasteEnd)
    if (end === -1) return false
    keys.push(...pasteKeys(this.#input.slice(0, end)))
    this.#input = this.#input.slice(end + pasteEnd.length)
    this.#isPasting = false
    return true
  }
}

function pasteKeys(text: string): Key[] {
  return text === '' ? [] : [{ name: 'text', text: text.replace(/\r\n?/g, '\n'), alone: false }]
}

/** The grammar of `sed`: scripts that only print. A script can also write files (`w`) and run commands (`e`), so every command of it is checked. */
import { flagsOf, type ParsedArguments } from './grammar.ts'
import { type Program, programOf } from './grammar-check.ts'

/** Reads a script from its start to its end, each character once. */
class ScriptReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  /** Reads the text that the pattern matches at the current position. The pattern must be sticky. Returns null if it does not match. */
  read(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? null
    if (found !== null) this.#at += found.length
    return found
  }

  /** Reads up to the delimiter that ends an expression, and the delimiter. Returns false if there is none. Inside brackets, some versions of sed take a delimiter literally and others do not, so brackets must not contain one. */
  skipExpression(delimiter: string, hasBrackets: boolean): boolean {
    for (; !this.isAtEnd; this.#at++) {
      const character = this.#text[this.#at]
      if (character === '\n') return false
      if (character === '\\' && this.#text[++this.#at] === '\n') return false
      if (character === '[' && hasBrackets && !this.#skipBrackets(delimiter)) return false
      if (character === delimiter) {
        this.#at++
        return true
      }
    }
    return false
  }

  /** Moves to the bracket that ends the set. A set may start with a bracket and contain classes such as `[:alpha:]`. Any other bracket is refused, because it could end the set elsewhere. */
  #skipBrackets(delimiter: string): boolean {
    const set = this.read(/\[\^?\]?(?:\[:[a-z]+:\]|[^\][\\\n])*\]/y)
    if (set === null || set.includes(delimiter)) return false
    this.#at--
    return true
  }
}

/** Reads an address. Returns whether there is one, or null if it is not understood. */
function readAddress(script: ScriptReader, line: RegExp): boolean | null {
  if (script.read(line) !== null) return true
  if (script.read(/\//y) === null) return false
  if (!script.skipExpression('/', true)) return null
  script.read(/I/y)
  return true
}

/** Reads a command that prints or leaves out lines, or a substitution with the usual delimiters. The flags e and w of a substitution, which run a command and write a file, are refused. */
function readCommand(script: ScriptReader): boolean {
  const delimiter = script.read(/s[/|#,@:!]/y)?.[1]
  if (delimiter === undefined) return script.read(/[pdD=lnN]|q(?: *\d+)?/y) !== null
  if (!script.skipExpression(delimiter, true) || !script.skipExpression(delimiter, false)) return false
  script.read(/[gpiI0-9]*/y)
  return true
}

/** Returns whether a script consists only of commands that print or leave out lines. */
export function isPrintingScript(text: string): boolean {
  const script = new ScriptReader(text.trim())
  while (!script.isAtEnd) {
    const first = readAddress(script, /\d+(?:~\d+)?|\$/y)
    if (first === null) return false
    if (first && script.read(/ *, */y) !== null && !readAddress(script, /[+~]?\d+|\$/y)) return false
    script.read(/ */y)
    script.read(/!/y)
    script.read(/\s*/y)
    if (!readCommand(script)) return false
    script.read(/ */y)
    if (!script.isAtEnd && script.read(/[;\n][;\s]*/y) === null) return false
  }
  return true
}

function scriptOptions({ flags }: ParsedArguments): readonly string[] {
  return [...(flags.get('-e') ?? []), ...(flags.get('--expression') ?? [])]
}

export const sed: Program = programOf({
  group: 'only-reads',
  style: 'clusters',
  flags: flagsOf('-n -E -r -s -u -z -e=text --quiet --silent --expression=text --regexp-extended --separate --posix'),
  operands: parsed => ({ first: scriptOptions(parsed).length === 0 ? ['text'] : [], others: 'file' }),
  refuses: parsed => {
    const scripts = scriptOptions(parsed)
    const isPrinting =
      scripts.length === 0 ? isPrintingScript(parsed.operands[0] ?? '') : scripts.every(isPrintingScript)
    return isPrinting ? null : 'The sed script does more than print lines.'
  },
})

/** Describes everything unusual about a text that a person decides on, in one sentence each. Page and terminal show the same sentences. */
import { hasRightToLeft } from '@holdpoint/protocol'
import { exactText, hasEscapes } from './display-text.ts'
import { type CodeKind, type LookAlike, lookAlikes, unusualHosts, unusualPrograms } from './look-alikes.ts'

const sentences = {
  invisible: 'Invisible characters are shown as \\u{…}.',
  /** How the surface shows right-to-left letters of code: drawn from left to right, or escaped. */
  rightToLeft: {
    drawn: 'Right-to-left letters are shown from left to right here, in their stored order.',
    escaped: 'Right-to-left letters are shown as \\u{…}, in their stored order.',
  },
} as const
export type RightToLeftStyle = keyof typeof sentences.rightToLeft

/** Collects the warnings about code: a command, a path, a value, a file. A long text can be added in chunks. */
export class CodeWarnings {
  readonly #kind: CodeKind
  readonly #style: RightToLeftStyle
  #hasInvisible = false
  #hasRightToLeft = false
  readonly #lookAlikes = new Set<string>()
  readonly #programs = new Set<string>()
  readonly #hosts = new Map<string, string>()

  constructor(kind: CodeKind, style: RightToLeftStyle) {
    this.#kind = kind
    this.#style = style
  }

  add(text: string): this {
    this.#hasInvisible ||= hasEscapes(text, { multiline: true })
    this.#hasRightToLeft ||= hasRightToLeft(text)
    for (const found of lookAlikes(text, this.#kind)) this.#lookAlikes.add(spelled(found))
    for (const { host, lookedUp } of unusualHosts(text)) this.#hosts.set(host, lookedUp)
    if (this.#kind === 'command') for (const name of unusualPrograms(text)) this.#programs.add(name)
    return this
  }

  sentences(): readonly string[] {
    const programs = Array.from(this.#programs, programSentence)
    const hosts = Array.from(this.#hosts, ([host, lookedUp]) => `The host ${quoted(host)} is really ${lookedUp}.`)
    return [
      ...(this.#hasInvisible ? [sentences.invisible] : []),
      ...(this.#hasRightToLeft ? [sentences.rightToLeft[this.#style]] : []),
      ...(this.#lookAlikes.size > 0 ? [`Some letters look like others: ${listed(this.#lookAlikes)}.`] : []),
      ...programs.slice(0, namesMax),
      ...hosts.slice(0, namesMax),
    ]
  }
}
/** At most this many names of programs, and as many of hosts, get a sentence. */
const namesMax = 3

/** Returns the warnings about prose, which is read and not executed. */
export function proseWarnings(text: string): readonly string[] {
  return hasEscapes(text, { multiline: true, keepEmoji: true }) ? [sentences.invisible] : []
}

function programSentence(name: string): string {
  return `The program name ${quoted(name)} has letters other than a to z.`
}

const quotedMax = 60

function quoted(name: string): string {
  return `“${exactText(name.slice(0, quotedMax).toWellFormed())}”`
}

const listedMax = 5

function listed(items: ReadonlySet<string>): string {
  const all = [...items]
  const more = all.length - listedMax
  return more > 0 ? `${all.slice(0, listedMax).join(', ')} and ${more} more` : all.join(', ')
}

const alphabets = ['Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu', 'Deseret'] as const
const alphabetPatterns = alphabets.map(name => [name, new RegExp(`\\p{Script=${name}}`, 'u')] as const)

/** Spells a look-alike with its code points, for example “а (U+0430, Cyrillic)”. */
function spelled({ text }: LookAlike): string {
  const codes = Array.from(text, char => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
  const alphabet = alphabetPatterns.find(([, pattern]) => pattern.test(text))?.[0]
  return `${text} (${codes.join(' ')}${alphabet ? `, ${alphabet}` : ''})`
}

/** Recognizes texts whose commands are known only when they run, so that a deny rule also looks at words anywhere in the text. */
import type { LiteralCommand } from './literal-commands.ts'
import { wordsIn } from './mentioned-words.ts'
import { shellNames } from './wrapper-programs.ts'

/** Programs that read words of a command from their input, or that give other names to commands. */
const renames: ReadonlySet<string> = new Set(['xargs', 'parallel', 'alias', 'eval', 'source', '.', 'set', 'trap'])

/** Returns whether the shell computes words of the text: expansions, substitutions, aliases, or text that it runs. */
export function isDynamic(text: string, commands: readonly LiteralCommand[]): boolean {
  if (commands.some(({ name }) => renames.has(name))) return true
  // If the text starts another shell, that shell also expands what is in quotes in this text.
  const isNested = commands.some(({ name }) => shellNames.has(name))
  return isNested ? /[$`]|[<>]\(|<<</.test(text) : hasExpansion(text)
}

/** Variables that never contain words of a command, unless the text assigns them. */
const plainVariable = /^\$(?:[?$#!]|(?:HOME|PWD|USER|TMPDIR)(?!\w))/

/** Returns whether something outside single quotes is expanded. */
function hasExpansion(text: string): boolean {
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '"') isQuoted = !isQuoted
    else if (character === "'" && !isQuoted) {
      const end = text.indexOf("'", at + 1)
      if (end < 0) return false
      at = end
    } else if (character === '`') return true
    else if (character === '$' && /^\$[\w{(@*"']/.test(text.slice(at, at + 2))) {
      if (!plainVariable.test(text.slice(at, at + 8))) return true
    } else if (!isQuoted && (character === '<' || character === '>') && /^(?:[<>]\(|<<<)/.test(text.slice(at, at + 3)))
      return true
  }
  return false
}

/** Adds all words of a text without quotes, and also words inside forms such as ${name:-word} and -Xword. */
export function looseWords(text: string, words = new Set<string>()): ReadonlySet<string> {
  wordsIn(text, words)
  wordsIn(text.replace(/['"\\]|:[-=+?]/g, ' '), words)
  for (const word of [...words]) if (/^-[a-z]./.test(word)) words.add(word.slice(2))
  return words
}

const messageStart = `"$(cat <<'`
const messageCommand = /^(?:git commit|gh pr|gh issue) [^$`<>)]*$/
const messageOption = / (?:-a?m|--message|--body|-b)[ =]$/
const beforeMax = 300
const messagesMax = 20

/** Removes messages of commits and pull requests if they are written as here-documents, because such messages are only text. */
export function withoutMessages(text: string): string {
  let kept = ''
  let at = 0
  let left = messagesMax
  for (let start = text.indexOf(messageStart); start >= 0 && left > 0; start = text.indexOf(messageStart, start + 1)) {
    left--
    const end = start < at ? -1 : endOfMessage(text, start)
    if (end < 0 || !takesMessage(text.slice(Math.max(at, start - beforeMax), start))) continue
    kept += text.slice(at, start)
    at = end
  }
  return kept + text.slice(at)
}

/** Returns whether a message of a commit or a pull request follows this text. */
function takesMessage(before: string): boolean {
  const command =
    before
      .split(/[\n;|&(]/)
      .at(-1)
      ?.trimStart() ?? ''
  return messageCommand.test(command) && messageOption.test(command)
}

/** Returns the position after the closing quote, or -1 if the text is not a simple here-document. */
function endOfMessage(text: string, start: number): number {
  const first = start + messageStart.length
  const delimiter = /^(\w{1,30})'\n/.exec(text.slice(first, first + 40))?.[1]
  if (delimiter === undefined) return -1
  const end = text.indexOf(`\n${delimiter}\n`, first + delimiter.length + 1)
  const after = end + delimiter.length + 2
  const closing = end < 0 ? undefined : /^\s{0,20}\)"/.exec(text.slice(after, after + 30))?.[0]
  return closing === undefined ? -1 : after + closing.length
}

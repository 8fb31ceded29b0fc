/** Recognizes commands that run downloaded or computed code, which nobody can read first: `curl … | sh`, `bash <(…)`, `eval "$(…)"`. */
import { programName } from '../shell/wrapper-programs.ts'

const shells = /^(?:(?:ba|z|k|da|a|fi|c|tc)?sh|pwsh|powershell)$/
const interpreters = /^(?:python[\d.]*|node|perl|ruby|php)$/
const partMax = 200

/** Returns whether a text pipes something into an interpreter, or starts one with the output of another command. */
export function runsComputedCode(text: string): boolean {
  return text.split('|').slice(1).some(startsInterpreter) || hasComputedScript(text)
}

/** Returns whether a part of a pipeline is an interpreter without a file, which runs its input. */
function startsInterpreter(part: string): boolean {
  const words = part
    .slice(0, partMax)
    .split(/\s+/)
    .filter(word => word !== '' && word !== '&')
  while (words.length > 0 && /^(?:sudo|env|-.*|\w+=.*)$/.test(words[0] as string)) words.shift()
  const [name = '', first = '-'] = words
  // A character that ends the command can follow the name without a space.
  const end = name.search(/[;&)`"'<>]/)
  const program = programName(end < 0 ? name : name.slice(0, end))
  if (end >= 0 || /^(?:-|[;&)<>].*)$/.test(first)) return shells.test(program) || interpreters.test(program)
  return shells.test(program) && /^-[^c]*$/.test(first)
}

const beforeScript = /(?:^|[\s;&|(])(?:(?:ba|z|k|da)?sh|source|\.|eval|exec)(?:\s{1,3}-\w{1,5})?\s{1,3}["']?$/
const beforeMax = 40

/** Returns whether an interpreter gets its code from a substitution. */
function hasComputedScript(text: string): boolean {
  for (const { index } of text.matchAll(/[$<]\(|`/g))
    if (beforeScript.test(text.slice(Math.max(0, index - beforeMax), index))) return true
  return false
}

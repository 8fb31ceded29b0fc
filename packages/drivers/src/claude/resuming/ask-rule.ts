/** Builds the ask rule for a process that resumes a call. The CLI evaluates the call before the SDK's hooks are registered, so only a rule can force the CLI to ask. The rule is as narrow as possible, because it applies until the process ends. */
import type { ToolCall } from '../transcript/transcript-index.ts'

/** Matches a command line of words, paths, redirections and operators, without anything that the shell expands. The CLI matches a rule against each simple command of the command line, without redirections. */
const plainCommand = /^[\w./:=@%+, <>|&;-]+$/
const firstWords = /^([A-Za-z][\w./:@%+,-]*(?: [\w./:=@%+,-]+)*?) *(?=$|[|;&<>]|\d>)/
/** Words that start a compound command. */
const keywords = new Set(['if', 'for', 'while', 'until', 'case', 'select', 'function', 'time', 'coproc'])
/** Matches a path that can be used as a rule pattern without escaping, and that the CLI does not normalize. */
const plainPath = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.@+-]+)+$/

export function askRuleFor({ tool, input }: Pick<ToolCall, 'tool' | 'input'>): string {
  if (tool === 'Bash' && typeof input.command === 'string') {
    const words = firstCommand(input.command)
    return words === null ? tool : `Bash(${words})`
  }
  if (['Write', 'Edit', 'MultiEdit'].includes(tool) && typeof input.file_path === 'string')
    return plainPath.test(input.file_path) ? `Edit(/${input.file_path})` : tool
  return tool
}

/** Returns the first simple command, or null if it cannot be found without parsing the shell language. */
function firstCommand(command: string): string | null {
  if (!plainCommand.test(command) || command.includes('<<')) return null
  const words = firstWords.exec(command)?.[1]
  return words === undefined || keywords.has(words.split(' ')[0] ?? '') ? null : words
}

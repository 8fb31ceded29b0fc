/** The ask rule under which a call is brought back: as narrow as can be shown to match it, since the CLI judges that call before we are heard, and asks for everything else that the rule matches until its process is gone. */
import type { ToolCall } from '../transcript/transcript-index.ts'

/** Words, paths, redirections and joints: nothing that the shell would expand. The CLI matches its rules against the simple commands in it, without what redirects them. */
const plainCommand = /^[\w./:=@%+, <>|&;-]+$/
const firstWords = /^([A-Za-z][\w./:@%+,-]*(?: [\w./:=@%+,-]+)*?) *(?=$|[|;&<>]|\d>)/
/** Words that begin something other than a simple command. */
const keywords = new Set(['if', 'for', 'while', 'until', 'case', 'select', 'function', 'time', 'coproc'])
/** Rules for paths are patterns; in such a path there is nothing to escape, and no step that the CLI would take out. */
const plainPath = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.@+-]+)+$/

export function askRuleFor({ tool, input }: Pick<ToolCall, 'tool' | 'input'>): string {
  if (tool === 'Bash' && typeof input.command === 'string') {
    const words = wordsOf(input.command)
    return words === null ? tool : `Bash(${words})`
  }
  if (['Write', 'Edit', 'MultiEdit'].includes(tool) && typeof input.file_path === 'string')
    return plainPath.test(input.file_path) ? `Edit(/${input.file_path})` : tool
  return tool
}

/** The first simple command, where that is plain to see. */
function wordsOf(command: string): string | null {
  if (!plainCommand.test(command) || command.includes('<<')) return null
  const words = firstWords.exec(command)?.[1]
  return words === undefined || keywords.has(words.split(' ')[0] ?? '') ? null : words
}

/** Reads a shell command for its risk: which programs it starts, and which files it redirects to. This is less strict than `parseCommand`, because no rule allows anything because of it. */
import type { AndOr, Command, CommandNode, PipelineNode, Redirection, Word } from 'unbash'
import { isSecretName } from '../files/path-names.ts'
import { parseCommand } from '../shell/parse-command.ts'
import { parseScript } from '../shell/parse-script.ts'
import type { CommandOperator, CommandSegment } from '../shell/parsed-command.ts'
import { parsingCost } from '../shell/syntax-commands.ts'
import { workingFolders } from '../shell/working-folders.ts'

export interface ReadCommand {
  readonly argv: readonly string[]
  /** The folders in which it can run. */
  readonly folders: readonly string[]
  /** The files to which its output goes. */
  readonly targets: readonly string[]
  /** The files from which its input comes. */
  readonly sources: readonly string[]
}

interface ReadSegment extends CommandSegment {
  readonly targets: readonly string[]
  readonly sources: readonly string[]
}

const lengthMax = 65_536
/** Each `cd` that may fail doubles the number of folders in which the rest can run. */
const folderChangesMax = 6

/** Returns the simple commands of a text, or null if their words are known only when they run. */
export function readShell(text: string, cwd: string): readonly ReadCommand[] | null {
  if (text.length > lengthMax) return null
  const parsed = parseCommand(text)
  const segments = parsed.provable
    ? parsed.segments.map(({ argv, operator, redirects }) => ({ argv, operator, redirects, targets: [], sources: [] }))
    : treeCommands(text)
  if (!segments || segments.filter(({ argv }) => argv[0] === 'cd').length > folderChangesMax) return null
  const folders = workingFolders(segments, cwd)
  return segments.map(({ argv, targets, sources }, index) => ({
    argv,
    targets,
    sources,
    folders: folders[index] ?? [],
  }))
}

function treeCommands(text: string): readonly ReadSegment[] | null {
  // A text with substitutions is refused in any case, and parsing nested ones would take long.
  if (parsingCost(text) > 0) return null
  try {
    const script = parseScript(text)
    if (script.errors?.length) return null
    const segments: ReadSegment[] = []
    for (const { command, background } of script.commands)
      if (background || !addCommands(command, segments.length === 0 ? null : ';', segments)) return null
    return segments
  } catch {
    return null
  }
}

function addCommands(node: PipelineNode | AndOr, operator: CommandOperator | null, segments: ReadSegment[]): boolean {
  if (node.type === 'AndOr')
    return node.commands.every((command, index) =>
      addCommands(command, node.operators[index - 1] ?? operator, segments),
    )
  if (node.type === 'Pipeline') {
    if (node.prefixes.length > 0) return false
    return node.commands.every((command: CommandNode, index) =>
      addCommands(command, index === 0 ? operator : '|', segments),
    )
  }
  return node.type === 'Command' && addCommand(node, operator, segments)
}

function addCommand(command: Command, operator: CommandOperator | null, segments: ReadSegment[]): boolean {
  if (command.prefix.some(part => part.type === 'Assignment') || !command.name) return false
  const words = [command.name, ...command.args]
  const argv = words.map(word => (word.type === 'Word' ? literalText(word) : null))
  const targets = command.redirects.map(targetOf)
  if (argv.includes(null) || targets.includes(null)) return false
  segments.push({
    argv: argv as string[], // checked above
    operator,
    redirects: [],
    targets: (targets as string[]).filter(target => target !== ''), // checked above
    sources: command.redirects.flatMap(sourceOf),
  })
  return true
}

/** Returns the file that a redirect writes, an empty text if it writes none, or null if that is not known. */
function targetOf(redirect: Redirection): string | null {
  if (redirect.type === 'HereDoc') return redirect.body.parts?.some(({ type }) => type !== 'Literal') ? null : ''
  if (redirect.type === 'HereString') return redirect.target && literalText(redirect.target) !== null ? '' : null
  const target = redirect.target ? literalText(redirect.target) : null
  if (target === null) return null
  if (redirect.operator === '<') return ''
  if (/^[<>]&$/.test(redirect.operator)) return /^(?:\d+|-)$/.test(target) ? '' : target
  return target
}

function sourceOf(redirect: Redirection): readonly string[] {
  if (redirect.type === 'HereDoc' || redirect.type === 'HereString' || redirect.operator !== '<') return []
  const source = redirect.target ? literalText(redirect.target) : null
  return source === null ? [] : [source]
}

/** Returns the text of a word, or null if the shell changes it. Patterns for ordinary files inside folders stay as they are. */
function literalText({ parts, value, text }: Word): string | null {
  const kinds = new Set<string>()
  for (const part of parts ?? [])
    for (const { type } of part.type === 'DoubleQuoted' ? part.parts : [part]) kinds.add(type)
  kinds.delete('Literal')
  kinds.delete('SingleQuoted')
  if (kinds.size === 0) return value.startsWith('~') && text.startsWith('~') ? null : value
  return kinds.size === 1 && kinds.has('Glob') && isOrdinaryPattern(text) ? text : null
}

/** Returns whether a pattern matches neither options nor secrets. */
function isOrdinaryPattern(pattern: string): boolean {
  const ending = /\.\w+$/.exec(pattern)?.[0]
  return /^[\w./]/.test(pattern) && ending !== undefined && !isSecretName(`x${ending}`) && !isSecretName(ending)
}

/** The second reading of a shell command, from the syntax tree of a complete parser. `parseCommand` compares it with the first one, word by word. */
import type { AndOr, Command, PipelineNode, Redirection, Word } from 'unbash'
import { parseScript } from './parse-script.ts'
import type { CommandOperator, NullRedirect } from './parsed-command.ts'

export interface TreeWord {
  readonly value: string
  readonly start: number
  readonly end: number
}
export interface TreeSegment {
  readonly words: readonly TreeWord[]
  readonly operator: CommandOperator | null
  readonly redirects: readonly NullRedirect[]
}

/** Returns null unless the tree has nothing but simple commands with literal words. */
export function treeSegments(text: string): readonly TreeSegment[] | null {
  const script = parseScript(text)
  if (script.errors?.length || script.shebang !== undefined) return null
  const segments: TreeSegment[] = []
  for (const { command, background } of script.commands)
    if (background || !addCommands(command, segments.length === 0 ? null : ';', segments)) return null
  return segments
}

function addCommands(node: PipelineNode | AndOr, operator: CommandOperator | null, segments: TreeSegment[]): boolean {
  switch (node.type) {
    case 'AndOr':
      return node.commands.every((command, index) =>
        addCommands(command, node.operators[index - 1] ?? operator, segments),
      )
    case 'Pipeline':
      if (node.prefixes.length > 0 || node.operators.some(pipe => pipe !== '|')) return false
      return node.commands.every((command, index) => addCommands(command, index === 0 ? operator : '|', segments))
    case 'Command':
      return addCommand(node, operator, segments)
    default:
      return false
  }
}

function addCommand(command: Command, operator: CommandOperator | null, segments: TreeSegment[]): boolean {
  if (command.prefix.length > 0 || !command.name) return false
  const words: TreeWord[] = []
  const redirects: NullRedirect[] = []
  for (const part of [command.name, ...command.suffix]) {
    if (part.type === 'Assignment') return false
    if (part.type === 'Word') {
      if (!isLiteral(part)) return false
      words.push({ value: part.value, start: part.pos, end: part.end })
      continue
    }
    const found = nullRedirects(part)
    if (!found) return false
    redirects.push(...found)
  }
  segments.push({ words, operator, redirects })
  return true
}

function isLiteral({ parts }: Word): boolean {
  return (parts ?? []).every(
    part =>
      part.type === 'Literal' ||
      part.type === 'SingleQuoted' ||
      (part.type === 'DoubleQuoted' && part.parts.every(({ type }) => type === 'Literal')),
  )
}

function nullRedirects(redirect: Redirection): readonly NullRedirect[] | null {
  if (redirect.type !== 'Redirect') return null
  const { operator, descriptor, target } = redirect
  if (descriptor && descriptor.type !== 'FileDescriptor') return null
  const from = descriptor?.value
  switch (`${from ?? ''}${operator}${target?.text}`) {
    case '</dev/null':
      return ['</dev/null']
    case '>/dev/null':
    case '>>/dev/null':
    case '1>/dev/null':
    case '1>>/dev/null':
      return ['>/dev/null']
    case '2>/dev/null':
    case '2>>/dev/null':
      return ['2>/dev/null']
    case '&>/dev/null':
    case '&>>/dev/null':
      return ['>/dev/null', '2>&1']
    case '2>&1':
      return ['2>&1']
    case '>&2':
    case '1>&2':
      return ['>&2']
    default:
      return null
  }
}

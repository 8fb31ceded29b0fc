/** Finds the commands of a text with a parser, wherever they are nested. */
import { type Command, forEachChild, parse, type Script, type SyntaxNode } from 'unbash'
import type { FoundCommands } from './found-commands.ts'

/** The parser reads a substitution again for each level around it, so deeply nested ones would take seconds. */
const costMax = 300_000

/** Returns whether the parser could read the whole text. */
export function findParsedCommands(text: string, found: FoundCommands): boolean {
  if ((text.match(/[$<>]\(/g)?.length ?? 0) * text.length > costMax) return false
  let isWhole = true
  const visit = (node: SyntaxNode) => {
    if (node.type === 'Script') isWhole &&= !hasErrors(node)
    collect(node, found)
  }
  try {
    const waiting: SyntaxNode[] = [parse(text)]
    for (let node = waiting.pop(); node; node = waiting.pop()) {
      visit(node)
      forEachChild(node, child => waiting.push(child))
    }
  } catch {
    return false
  }
  return isWhole
}

function hasErrors(script: Script & { readonly errors?: readonly unknown[] | undefined }): boolean {
  return (script.errors?.length ?? 0) > 0
}

function collect(node: SyntaxNode, found: FoundCommands): void {
  switch (node.type) {
    case 'Command':
      found.addCommand(commandWords(node))
      return
    case 'For':
    case 'Select':
      for (const { value } of node.wordlist ?? []) found.addValue(node.name.value, value)
      return
    case 'Assignment':
      if (node.value.type === 'Word') found.addValue(node.name, node.value.value)
      return
    case 'HereDoc':
      found.inputs.push(node.body.text)
      return
    case 'HereString':
      if (node.target) found.inputs.push(node.target.value)
      return
  }
}

function commandWords({ name, args }: Command): readonly string[] {
  return [...(name ? [name] : []), ...args].map(word => (word.type === 'Word' ? word.value : word.text))
}

/** Finds the commands of a text with a parser, at every level of nesting. */
import { type Command, forEachChild, type Script, type SyntaxNode } from 'unbash'
import type { FoundCommands } from './found-commands.ts'
import { parseScript } from './parse-script.ts'

/** Returns a measure for the time that parsing can take: the parser reads a substitution again for each level around it. */
export function parsingCost(text: string): number {
  return (text.match(/[$<>]\(/g)?.length ?? 0) * text.length
}

/** Returns whether the parser could read the whole text. */
export function findParsedCommands(text: string, found: FoundCommands): boolean {
  let isWhole = true
  const visit = (node: SyntaxNode) => {
    if (node.type === 'Script') isWhole &&= !hasErrors(node)
    collect(node, found)
  }
  try {
    const waiting: SyntaxNode[] = [parseScript(text)]
    for (let node = waiting.pop(); node; node = waiting.pop()) {
      visit(node)
      const children: SyntaxNode[] = []
      forEachChild(node, child => children.push(child))
      // The node that was added last is visited next, and commands must be found in the order of the text.
      for (const child of children.reverse()) waiting.push(child)
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

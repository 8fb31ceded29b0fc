/** Recognizes commands that read, copy or change whole folders, such as `grep -r`. */

/**
 * The cases in which a program works on whole folders. `search`: always; without a path, it searches its current folder. `always`: for
 * every folder among its operands. `recursive`: only with an option such as -r. `recursiveSearch`: like `search`, but only
 * with such an option. `copy`: with such an option; the last operand is the target. `move`: always; the last operand is the
 * target. `find`: only if the command does something with the files that it finds.
 */
type Reach = 'search' | 'recursiveSearch' | 'always' | 'recursive' | 'copy' | 'move' | 'find'

const programs: ReadonlyMap<string, Reach> = new Map([
  ...(['rg', 'ag', 'ack', 'ugrep', 'rgrep'] as const).map(name => [name, 'search'] as const),
  ...(['grep', 'egrep', 'fgrep', 'zgrep'] as const).map(name => [name, 'recursiveSearch'] as const),
  ...(['zip', '7z', 'tar', 'bsdtar', 'pax'] as const).map(name => [name, 'always'] as const),
  ...(['chmod', 'chown', 'chgrp', 'rm', 'setfacl', 'diff'] as const).map(name => [name, 'recursive'] as const),
  ...(['cp', 'scp', 'rsync'] as const).map(name => [name, 'copy'] as const),
  ...(['find', 'fd'] as const).map(name => [name, 'find'] as const),
  ['mv', 'move'],
])
/** Programs accept the start of a long name. Short options can be joined, also with the value of the last one (`-rm1`). `recurse` is a value of the option `--directories` of grep. */
const recursiveOption = /^(?:--(?:rec|deref|arch)[a-z-]*|-[a-zA-Z0-9]*[rRa].*|(?:--d[a-z]*=)?recurse)$/s
/** With these options, `git grep` and `git diff` also read files that are not in a repository. */
const noIndexOption = /^--(?:no-i|unt)[a-z]*$/
const extractOption = /^(?:-?[a-zA-Z]{0,20}x[a-zA-Z]{0,20}|--extract|--get)$/
const findAction = /-exec|-ok|-delete|xargs|-x\b|\$\(|`|\bread\b|cpio/

/** Matches texts that may contain such a command. This check is quick. */
export const mayReachTrees = new RegExp(`(?:^|[^\\w-])(?:git|${[...programs.keys()].join('|')})(?![\\w-])`)

export interface TreeCommand {
  /** The words that can name folders. */
  readonly operands: readonly string[]
  /** Whether the command works on its current folder if no operand is a path. */
  readonly defaultsToCurrentFolder: boolean
}

/** Returns whether a command such as `find` in this text does something with the files that it finds. */
export function hasFindAction(text: string): boolean {
  return findAction.test(text)
}

/** Returns the folders that a command works on as a whole, or null if it does not work on whole folders. `usesFound` says whether the text that contains the command has a find action. */
export function treeCommand(words: readonly string[], usesFound: boolean): TreeCommand | null {
  const gitAt = words.findIndex(word => nameOf(word) === 'git')
  if (gitAt >= 0 && words.some(word => noIndexOption.test(word)))
    return { operands: operandsIn(words.slice(gitAt + 1)), defaultsToCurrentFolder: true }
  const at = words.findIndex(word => programs.has(nameOf(word)))
  const name = nameOf(words[at] ?? '')
  const reach = programs.get(name)
  const rest = words.slice(at + 1)
  const operands = operandsIn(rest)
  const isRecursive = rest.some(word => recursiveOption.test(word))
  switch (reach) {
    case undefined:
      return null
    case 'search':
      return { operands, defaultsToCurrentFolder: true }
    case 'recursiveSearch':
      return isRecursive ? { operands, defaultsToCurrentFolder: true } : null
    case 'always':
      return name.endsWith('tar') && isExtraction(rest) ? null : { operands, defaultsToCurrentFolder: false }
    case 'recursive':
      return isRecursive ? { operands, defaultsToCurrentFolder: false } : null
    case 'copy':
      return isRecursive ? { operands: operands.slice(0, -1), defaultsToCurrentFolder: false } : null
    case 'move':
      return { operands: operands.slice(0, -1), defaultsToCurrentFolder: false }
    case 'find':
      return usesFound ? { operands, defaultsToCurrentFolder: true } : null
  }
}

function operandsIn(words: readonly string[]): readonly string[] {
  return words.filter(word => !word.startsWith('-'))
}

/** The first option of `tar` may have no dash. */
function isExtraction(words: readonly string[]): boolean {
  return words.some((word, index) => (index === 0 || word.startsWith('-')) && extractOption.test(word))
}

/** Returns the program's name without its folder. */
function nameOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}

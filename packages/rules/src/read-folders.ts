/** Finds the folders that an allowed call reads as a whole, so that rules for paths in them are considered. */
import type { Action } from '@holdpoint/protocol'
import { joinPath } from './paths.ts'
import { checkArguments } from './programs/check-arguments.ts'
import { parseCommand } from './shell/parse-command.ts'
import { workingFolders } from './shell/working-folders.ts'
import type { CallSite } from './site.ts'

export interface ReadFolder {
  readonly path: string
  /** Whether it was checked that the call reads no secret in this folder. */
  readonly hasNoSecrets: boolean
}

/** Programs that print names, sizes and times of files, but not their content. */
const listsNames: ReadonlySet<string> = new Set(
  'ls find fd tree du df stat file readlink realpath basename dirname pwd which test [ type command'.split(' '),
)

/** Returns the folders that the call reads as a whole, and also the files that it names, which is harmless because a file contains no other path. */
export function readFolders(action: Action, site: CallSite): readonly ReadFolder[] {
  if ('read' in action) return action.read.flatMap(path => formsOf(path, site, true))
  if (!('shell' in action)) return []
  const parsed = parseCommand(action.shell)
  if (!parsed.provable) return []
  const folders = workingFolders(parsed.segments, site.cwd)
  return parsed.segments.flatMap(({ argv }, index) =>
    (folders[index] ?? []).flatMap(cwd => foldersOf(argv, { ...site, cwd })),
  )
}

function foldersOf(argv: readonly string[], site: CallSite): readonly ReadFolder[] {
  const [name = '', ...args] = argv
  if (name === 'cd') return []
  const checked = checkArguments(argv, site)
  if (!checked.ok)
    return args.flatMap(word => word.split(/[=:,]/)).flatMap(word => (word === '' ? [] : formsOf(word, site, false)))
  if (listsNames.has(name)) return []
  const isGit = name === 'git'
  if (isGit && !showsContent(args)) return []
  // The code of a project may read any file, even if its arguments name others.
  if (!isGit && checked.group === 'project-code') return []
  const isPath = (path: string) => (site.files?.realPath(path) ?? null) !== null
  // Without a path, git shows the changes of the whole repository.
  const paths = isGit && !checked.paths.some(isPath) ? [site.folder] : checked.paths
  return paths.map(path => ({ path, hasNoSecrets: true }))
}

function formsOf(path: string, { cwd, files }: CallSite, hasNoSecrets: boolean): readonly ReadFolder[] {
  const absolute = joinPath(cwd, path)
  const real = files?.realPath(absolute) ?? absolute
  return [...new Set([absolute, real])].map(each => ({ path: each, hasNoSecrets }))
}

const patchOption = /^(?:-p|-u|-c|-m|-W|-U\d*|-[SG].*|-L.*|--patch.*|--unified.*|--cc|--word-diff.*|--color-words.*)$/
const namesOption = /^--(?:stat|shortstat|numstat|dirstat|summary|name-only|name-status)(?:=.*)?$/

/** Returns whether a git command prints the content of files. */
function showsContent(args: readonly string[]): boolean {
  const words = args.filter((word, index) => !word.startsWith('-') && args[index - 1] !== '-C')
  const hasPatch = args.some(arg => patchOption.test(arg))
  switch (words[0]) {
    case 'diff':
    case 'show':
    case 'diff-tree':
    case 'diff-index':
    case 'diff-files':
      return hasPatch || !args.some(arg => namesOption.test(arg))
    case 'grep':
    case 'blame':
    case 'annotate':
    case 'cat-file':
      return true
    case 'stash':
    case 'log':
    case 'reflog':
    case 'whatchanged':
      return hasPatch
    default:
      return false
  }
}

/** Finds the folders in which the commands of a text can run, for deny rules. It assumes that every `cd` and every option such as -C may or may not have an effect. */
import { joinPath } from '../paths.ts'
import { pathsAfterExpansions } from '../shell-text.ts'
import type { LiteralCommand } from './literal-commands.ts'

const foldersMax = 32
const changes: ReadonlySet<string> = new Set(['cd', 'chdir', 'pushd'])
const folderOption = /^(?:-C|--directory|--chdir|--cwd|--prefix|--work-tree|--git-dir|--root)$/
const attachedFolder = /^(?:-C|(?:--directory|--chdir|--cwd|--prefix|--work-tree|--git-dir|--root)=)(.+)$/s

/** `top` is the folder of the session, in which a path that starts with a variable may begin; null if nobody knows it. The result is null if the commands reach more than foldersMax folders. */
export function reachedFolders(
  commands: readonly LiteralCommand[],
  starts: readonly string[],
  home: string,
  top: string | null,
): ReadonlySet<string> | null {
  const folders = new Set(starts)
  const targets = new Set(targetsOf(commands))
  // A command is found once, however often it occurs in the text, so targets such as `..` are tried twice.
  const repeated = [...targets].filter(target => /^[./]+$/.test(target))
  for (const target of [...targets, ...repeated]) {
    const path = target.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, home)
    for (const folder of [...folders]) folders.add(joinPath(folder, path))
    for (const rest of pathsAfterExpansions(path))
      for (const folder of [...folders, ...(top === null ? [] : [top])]) folders.add(joinPath(folder, rest))
    if (folders.size > foldersMax) return null
  }
  return folders
}

function* targetsOf(commands: readonly LiteralCommand[]): Generator<string> {
  for (const { name, argv } of commands) {
    if (changes.has(name)) yield argv.findLast((word, index) => index > 0 && !/^-[LPe@]*$|^--$/.test(word)) ?? '~'
    for (const [index, word] of argv.entries()) {
      const value = folderOption.test(word) ? argv[index + 1] : attachedFolder.exec(word)?.[1]
      if (value !== undefined) yield value
    }
  }
}

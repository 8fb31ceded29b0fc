/** The programs whose arguments can be proven harmless, in two groups: those that only read, and those that run code of the project. */
import { checkPath, quote } from '../files/check-path.ts'
import type { CallSite } from '../site.ts'
import { awk } from './awk.ts'
import { compilerPrograms } from './compiler-programs.ts'
import { find } from './find.ts'
import { git } from './git.ts'
import { type ArgumentCheck, type Program, refuse } from './grammar-check.ts'
import { jq } from './jq.ts'
import { nodePrograms, projectTool } from './node-package-runners.ts'
import { pythonPrograms } from './python-programs.ts'
import { searchPrograms } from './search-programs.ts'
import { sed } from './sed.ts'
import { shellBuiltins } from './shell-builtins.ts'
import { textPrograms } from './text-programs.ts'

export const programs: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...textPrograms,
  ...shellBuiltins,
  ...searchPrograms,
  ['find', find],
  ['sed', sed],
  ['awk', awk],
  ['jq', jq],
  ['git', git],
  ...nodePrograms,
  ...pythonPrograms,
  ...compilerPrograms,
])

/** Proves that a command only reads inside the folder of the session, or only runs code of the project. `argv` starts with the name of the program. */
export function checkArguments(argv: readonly string[], site: CallSite): ArgumentCheck {
  const [name = '', ...args] = argv
  // A path could name any program, so only plain names are known, and tools in node_modules.
  const program = programs.get(name) ?? projectTool(name)
  if (!program)
    return refuse(name === '' ? 'The command is empty.' : `There is no list of harmless options for ${quote(name)}.`)
  const folder = checkPath('.', site, 'list')
  if (!folder.ok) return refuse(`The command runs elsewhere: ${folder.reason}`)
  return program.check(args, site)
}

/** For programs with subcommands: how many words name the command. */
const commandWords: ReadonlyMap<string, (second: string | undefined) => number> = new Map([
  ...['git', 'go', 'cargo', 'make', 'npx', 'ruff', 'biome'].map(name => [name, () => 2] as const),
  ...['npm', 'pnpm', 'yarn', 'bun'].map(
    name => [name, (second?: string) => (/^(?:run|run-script|exec|workspace)$/.test(second ?? '') ? 3 : 2)] as const,
  ),
  ...['python', 'python3'].map(name => [name, () => 3] as const),
])

/** Returns whether these words name a program, with a subcommand if it needs one, whose arguments can be checked. */
export function hasGrammar(argv: readonly string[]): boolean {
  const [name = '', second] = argv
  const needed = commandWords.get(name)?.(second) ?? 1
  const words = argv.slice(1, needed)
  return programs.has(name) && argv.length >= needed && words.every(word => !word.startsWith('-') || word === '-m')
}

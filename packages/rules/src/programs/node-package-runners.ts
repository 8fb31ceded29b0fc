/** Grammars of npm, pnpm, yarn, bun and npx: scripts of the project by name, and tools that are already installed in it. */
import { quote } from '../files/check-path.ts'
import { isInside, parentOf } from '../paths.ts'
import type { CallSite } from '../site.ts'
import { looksLikeOption } from './argument-parser.ts'
import { type Flags, flagsOf, type Grammar } from './grammar.ts'
import { type ArgumentCheck, checkGrammar, type Program, refuse } from './grammar-check.ts'
import { node, nodeTools } from './node-tools.ts'
import { isUsualScript } from './script-names.ts'
import { scriptArguments, scriptWordProblem, testFileProblem } from './test-arguments.ts'

/**
 * npm takes its own options anywhere before `--`. The list omits --prefix, --node-options, --script-shell, --userconfig and others,
 * which change what runs.
 */
const npm: Grammar = {
  group: 'project-code',
  style: 'alone',
  flags: flagsOf(
    '-s -w=workspace --silent --if-present --workspace=workspace --workspaces --include-workspace-root --no-color',
    '--loglevel=silent|error|warn|notice|http|timing|info',
  ),
  operands: ({ operands }) => ({ first: isRun(operands[0]) ? ['text', 'text'] : ['text'], others: 'test' }),
  passedOn: ({ operands: [command, name = ''] }) => scriptArguments(isRun(command) ? name : 'test'),
  refuses: ({ operands: [command, name, ...more], rest }, site) => {
    if (['test', 't', 'tst'].includes(command ?? ''))
      return scriptWordProblem(name === undefined ? [] : [name, ...more], site)
    if (!isRun(command)) return `npm ${command ?? ''} may install, publish or run something else.`
    // Without a name before `--`, the first word after it is the name.
    if (name === undefined) return rest.length === 0 ? null : scriptProblem(rest[0] as string)
    return isUsualScript(name) ? scriptWordProblem(more, site) : scriptProblem(name)
  },
}

function isRun(word: string | undefined): boolean {
  return word === 'run' || word === 'run-script'
}

function scriptProblem(name: string): string {
  return `The name ${quote(name)} does not say that the script only tests, checks or builds.`
}

/** The list omits -C, --dir, --config and other options that change where or what runs. */
const pnpmFlags = flagsOf(
  '-s -r -w -F=text --silent --recursive --filter=text --workspace-root --if-present --parallel --stream --no-bail',
  '--aggregate-output --color --no-color',
)
/** Yarn 1 ignores options that it does not know, and takes the next word as its command: `yarn -F add test x` adds x. */
const yarnFlags = flagsOf('-s --silent')
/** Commands of pnpm and yarn that would be taken for the names of scripts. */
const ownCommands: ReadonlySet<string> = new Set([
  'audit',
  'bin',
  'check',
  'ci',
  'config',
  'doc',
  'docs',
  'licenses',
  'link',
  'pack',
  'version',
])

/** Checks `pnpm test`, `pnpm -r run lint`, `yarn build`. The arguments after the name of the script go to the script. */
function checkScript(args: readonly string[], flags: Flags, site: CallSite): ArgumentCheck {
  const at = { value: 0 }
  const problem = skipFlags(args, flags, at)
  if (problem) return refuse(problem)
  let name = args[at.value++]
  const isExplicit = isRun(name)
  if (isExplicit) {
    const inner = skipFlags(args, flags, at)
    if (inner) return refuse(inner)
    name = args[at.value++]
  }
  if (name === undefined) return isExplicit ? proven : refuse('The name of the script is missing.')
  if (!isUsualScript(name) || (!isExplicit && ownCommands.has(name))) return refuse(scriptProblem(name))
  const rest = args.slice(at.value)
  // Some versions remove `--`, so the words after it must also be harmless as options.
  return checkGrammar(rest[0] === '--' ? rest.slice(1) : rest, scriptArguments(name), site)
}

/** Moves to the first argument after the options of the package runner. */
function skipFlags(args: readonly string[], flags: Flags, at: { value: number }): string | null {
  for (let arg = args[at.value]; arg?.startsWith('-'); arg = args[at.value]) {
    const [name = '', value] = arg.split('=', 2)
    const flag = flags.get(name)
    if (!flag || (flag.value === 'none' && value !== undefined))
      return `The option ${quote(arg)} is not on the list of harmless options.`
    const isNext = flag.value === 'required' && value === undefined
    if (isNext && looksLikeOption(args[at.value + 1] ?? '')) return `The value of ${name} is missing.`
    // pnpm passes a commit in brackets to git, which would take it as an option: `[--output=FILE]`.
    if (`${arg} ${isNext ? args[at.value + 1] : ''}`.includes('[-')) return `The value of ${name} contains an option.`
    at.value += isNext ? 2 : 1
  }
  return null
}

/** Returns whether a tool is installed in the project. Otherwise npx would download a package with that name. */
function isInstalled(tool: string, site: CallSite): boolean {
  if (!site.files) return false
  for (let folder = site.cwd; isInside(folder, site.folder); folder = parentOf(folder)) {
    if (site.files.realPath(`${folder}/node_modules/.bin/${tool}`) !== null) return true
    if (folder === '/') return false
  }
  return false
}

/** Checks a tool of the project with its arguments. */
function checkTool([tool = '', ...args]: readonly string[], site: CallSite): ArgumentCheck {
  const grammar = nodeTools.get(tool)
  if (!grammar) return refuse(`${quote(tool)} is not on the list of tools.`)
  if (!isInstalled(tool, site))
    return refuse(`${quote(tool)} is not installed in this project and would be downloaded.`)
  return checkGrammar(args, grammar, site)
}

/** `node_modules/.bin/tsc`: a tool of the project by its path. Returns null if the path is not such a tool. */
export function projectTool(path: string): Program | null {
  const tool = /^(?:\.\/)?node_modules\/\.bin\/([\w-]+)$/.exec(path)?.[1]
  return tool === undefined ? null : { check: (args, site) => checkTool([tool, ...args], site) }
}

function withoutLeading(args: readonly string[], options: readonly string[]): readonly string[] {
  const start = args.findIndex(arg => !options.includes(arg))
  return start < 0 ? [] : args.slice(start)
}

const proven: ArgumentCheck = { ok: true, group: 'project-code', paths: [] }
function isVersion(args: readonly string[]): boolean {
  return args.length === 1 && ['--version', '-v'].includes(args[0] as string)
}

const npmProgram: Program = {
  check(args, site) {
    if (isVersion(args)) return proven
    // Before `--`, npm would take options such as -c as its own, so only the tool may be there.
    if (args[0] === 'exec' && args[1] === '--') return checkTool(args.slice(2), site)
    if (args[0] === 'exec' && args[2] === '--') return checkTool([args[1] ?? '', ...args.slice(3)], site)
    return checkGrammar(args, npm, site)
  },
}

const pnpm: Program = {
  check(args, site) {
    if (isVersion(args)) return proven
    if (args[0] === 'exec') return checkTool(args.slice(1), site)
    return nodeTools.has(args[0] ?? '') ? checkTool(args, site) : checkScript(args, pnpmFlags, site)
  },
}

const yarn: Program = {
  check(args, site) {
    if (isVersion(args)) return proven
    if (nodeTools.has(args[0] ?? '')) return checkTool(args, site)
    const isWorkspace = args[0] === 'workspace' && /^[\w@][\w@/.-]*$/.test(args[1] ?? '')
    return checkScript(isWorkspace ? args.slice(2) : args, yarnFlags, site)
  },
}

const npx: Program = {
  check: (args, site) => checkTool(withoutLeading(args, ['--no-install', '--no', '--']), site),
}

const bun: Program = {
  check(args, site) {
    if (isVersion(args)) return proven
    const [command, ...rest] = args
    if (command === 'test') return checkGrammar(rest, bunTest, site)
    const [name = '', ...more] = rest
    // bun takes a name with an ending for a file.
    if (command === 'run' && isUsualScript(name) && !name.includes('.'))
      return checkGrammar(more, scriptArguments(name), site)
    return refuse('Only bun test and scripts of the project are accepted.')
  },
}
const bunTest: Grammar = {
  group: 'project-code',
  style: 'alone',
  flags: flagsOf(
    '-t=text --test-name-pattern=text --timeout=number --bail?=number --coverage --only --todo --rerun-each=number --update-snapshots -u --silent',
  ),
  operands: { others: 'test' },
  refuses: ({ operands }) => testFileProblem(operands),
}

/** Tools that are started by their own name. PATH decides which file runs, and usually includes the tools of the project. */
function directTool(grammar: Grammar): Program {
  return { check: (args, site) => checkGrammar(args, grammar, site) }
}

export const nodePrograms: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['npm', npmProgram],
  ['pnpm', pnpm],
  ['yarn', yarn],
  ['npx', npx],
  ['bun', bun],
  ['node', directTool(node)],
  ...[...nodeTools].map(([name, grammar]) => [name, directTool(grammar)] as const),
])

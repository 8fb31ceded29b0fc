/** Proves that a command only reads, or only writes ordinary files inside the folder of the session. Everything else is at least notable. */
import { checkPath } from '../files/check-path.ts'
import { checkArguments } from '../programs/check-arguments.ts'
import { gitSettingsProblem } from '../programs/git-settings.ts'
import { isPrintingScript } from '../programs/sed.ts'
import type { CallSite } from '../site.ts'

export function isHarmless(argv: readonly string[], site: CallSite): boolean {
  const [name = '', ...args] = argv
  if (name === 'cd') return args.length === 1 && checkPath(args[0] ?? '', site, 'list').ok
  const check = checkArguments(argv, site)
  if (check.ok) return check.group === 'only-reads'
  const writes = Object.hasOwn(writers, name) ? writers[name] : undefined
  return writes?.(args, site) ?? false
}

/** Commands that write, each with the arguments for which they write only ordinary files inside the folder. */
const writers: Readonly<Record<string, (args: readonly string[], site: CallSite) => boolean>> = {
  mkdir: (args, site) => areWritable(args, site, /^-(?:p|v|pv|-parents|-verbose)$/),
  touch: (args, site) => areWritable(args, site, /^-(?:c|a|m)$/),
  tee: (args, site) => areWritable(args, site, /^-(?:a|-append)$/),
  chmod: ([mode = '', ...args], site) =>
    /^(?:[ugoa]*[+-][rwx]+|0?[0-7]{3})$/.test(mode) &&
    !/^0?[0-7]*[2367]$/.test(mode) &&
    areWritable(args, site, /^-v$/),
  cp: (args, site) => isCopy(args, site, /^-(?:p|v|n|f|pv)$/),
  mv: (args, site) => isMove(args, site),
  sed: (args, site) => isEdit(args, site),
  git: (args, site) => isLocalGit(args, site),
}

function isWritable(path: string, site: CallSite): boolean {
  return checkPath(path, site, 'write').ok
}

/** Returns whether all operands are writable and all options are known. */
function areWritable(args: readonly string[], site: CallSite, options: RegExp): boolean {
  const operands = args.filter(arg => !options.test(arg))
  return operands.every(operand => !operand.startsWith('-') && isWritable(operand, site))
}

/** Returns the files that are written if the sources are copied or moved to the target, or null if that is not clear. */
function targetsOf(sources: readonly string[], target: string, site: CallSite): readonly string[] | null {
  const found = checkPath(target, site, 'list')
  if (!found.ok || !site.files?.list) return null
  if (site.files.list(found.path) === null) return sources.length === 1 && !target.endsWith('/') ? [target] : null
  return sources.map(source => `${target}/${source.split('/').findLast(name => name !== '')}`)
}

function isFile(path: string, site: CallSite): boolean {
  const found = checkPath(path, site, 'read')
  return found.ok && site.files?.realPath(found.path) !== null && site.files?.list?.(found.path) === null
}

function isCopy(args: readonly string[], site: CallSite, options: RegExp): boolean {
  const operands = args.filter(arg => !options.test(arg))
  if (operands.length < 2 || operands.some(operand => operand.startsWith('-'))) return false
  const sources = operands.slice(0, -1)
  const targets = targetsOf(sources, operands.at(-1) as string, site)
  return sources.every(source => isFile(source, site)) && (targets?.every(target => isWritable(target, site)) ?? false)
}

/** Like a copy, but the sources are removed from their folder, and no file may be overwritten. */
function isMove(args: readonly string[], site: CallSite): boolean {
  if (!isCopy(args, site, /^-(?:v|n)$/)) return false
  const operands = args.filter(arg => !arg.startsWith('-'))
  const sources = operands.slice(0, -1)
  const targets = targetsOf(sources, operands.at(-1) as string, site) ?? []
  return sources.every(source => isWritable(source, site)) && targets.every(target => !isFile(target, site))
}

/** `sed -i` with a script that neither runs commands nor writes other files. */
function isEdit(args: readonly string[], site: CallSite): boolean {
  const [option, script, ...files] = args
  if (!/^-i(?:\.\w+)?$/.test(option ?? '') || script === undefined || files.length === 0) return false
  return (
    isPrintingScript(script) &&
    files.every(file => !file.startsWith('-') && isFile(file, site) && isWritable(file, site))
  )
}

const branchName = /^[\w][\w./-]*$/
/** The hooks that run for the commands below. */
const localHooks = [
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'post-checkout',
  'pre-auto-gc',
  'post-index-change',
  'reference-transaction',
]

/** Commands of git that only change the repository itself and run no program of the project. */
function isLocalGit([command = '', ...args]: readonly string[], site: CallSite): boolean {
  if (!site.files || gitSettingsProblem(site, localHooks) !== null) return false
  switch (command) {
    case 'add':
      return args.every(
        arg =>
          /^(?:-A|-u|-v|--all|--update|--)$/.test(arg) || (!arg.startsWith('-') && checkPath(arg, site, 'read').ok),
      )
    case 'commit':
      return isCommit(args)
    case 'checkout':
    case 'switch':
      return args.length === 2 && /^-[bc]$/.test(args[0] ?? '') && branchName.test(args[1] ?? '')
    case 'branch':
      return args.length === 1 && branchName.test(args[0] ?? '')
    default:
      return false
  }
}

/** Checks a commit. Its message must be given, because git would start an editor otherwise. */
function isCommit(args: readonly string[]): boolean {
  let hasMessage = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string
    if (/^-a?m$|^--message$/.test(arg)) {
      hasMessage = true
      at++
    } else if (/^--message=/.test(arg)) hasMessage = true
    else if (!/^(?:-a|-q|-v|--all|--quiet|--allow-empty)$/.test(arg)) return false
  }
  return hasMessage
}

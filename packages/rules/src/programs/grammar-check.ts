/** Proves that the arguments of a program follow its grammar, and that every file they name may be read. */
import type { CommandGroup } from '@holdpoint/protocol'
import { checkPath, type PathUse, quote } from '../files/check-path.ts'
import { checkTree, type TreeFilter } from '../files/check-tree.ts'
import type { CallSite } from '../site.ts'
import { type ArgumentReading, parseArguments } from './argument-parser.ts'
import { repositoryFolder } from './git-settings.ts'
import type { Flag, Grammar, Operands, ParsedArguments, ValueKind } from './grammar.ts'

export type ArgumentCheck =
  | {
      readonly ok: true
      readonly group: CommandGroup
      /** The real paths of the files and folders that the arguments name. */
      readonly paths: readonly string[]
    }
  | {
      readonly ok: false
      /** A sentence for people. */
      readonly reason: string
    }

/** A program whose arguments can be checked. */
export interface Program {
  /** `args` are the arguments without the name of the program. */
  check(args: readonly string[], site: CallSite): ArgumentCheck
}

export function refuse(reason: string): ArgumentCheck {
  return { ok: false, reason }
}

/** Returns a program that checks arguments with the grammar. */
export function programOf(grammar: Grammar): Program {
  return { check: (args, site) => checkGrammar(args, grammar, site) }
}

/** For git, `@` is the current commit. */
const namesNoFile: ReadonlySet<ValueKind> = new Set(['text', 'word', 'number', 'revision', 'lines', 'none'])

export const everything: TreeFilter = {
  skippedFolders: new Set(),
  skipsHidden: false,
  followsLinks: false,
  endings: null,
}

export function checkGrammar(args: readonly string[], grammar: Grammar, site: CallSite): ArgumentCheck {
  const parsed = parseArguments(args, grammar)
  if (typeof parsed === 'string') return refuse(parsed)
  const refused = grammar.refuses?.(parsed, site)
  if (refused) return refuse(refused)
  const operands = operandsOf(grammar, parsed)
  const check = new ValueCheck(site, operands.filter ?? everything, grammar.group)
  const problem = check.flagValues(parsed) ?? check.operands(parsed, operands)
  if (problem) return refuse(problem)
  if (parsed.withoutLateOptions) {
    // A filter counts at any position: all usual versions of grep accept it there.
    const filtered = (inner: ParsedArguments) => ({
      ...operandsOf(grammar, inner),
      filter: operands.filter ?? everything,
    })
    const other = checkGrammar(parsed.withoutLateOptions, { ...grammar, operands: filtered }, site)
    if (!other.ok) return other
  }
  if (!grammar.passedOn || parsed.rest.length === 0) return { ok: true, group: grammar.group, paths: check.paths }
  const passedOn = typeof grammar.passedOn === 'function' ? grammar.passedOn(parsed) : grammar.passedOn
  const rest = checkGrammar(parsed.rest, passedOn, site)
  return rest.ok ? { ...rest, group: grammar.group, paths: [...check.paths, ...rest.paths] } : rest
}

function operandsOf({ operands }: Grammar, parsed: ParsedArguments): Operands {
  return typeof operands === 'function' ? operands(parsed) : operands
}

/** Checks values one by one and collects the paths among them. */
class ValueCheck {
  readonly paths: string[] = []
  readonly #site: CallSite
  readonly #filter: TreeFilter
  readonly #group: CommandGroup

  constructor(site: CallSite, filter: TreeFilter, group: CommandGroup) {
    this.#site = site
    this.#filter = filter
    this.#group = group
  }

  flagValues(parsed: ArgumentReading): string | null {
    for (const { flag, name, value } of parsed.values) {
      const problem = this.#flagValue(flag, name, value)
      if (problem) return problem
    }
    return null
  }

  operands({ operands }: ParsedArguments, { first = [], others, least = 0, most, own }: Operands): string | null {
    if (operands.length < least) return 'The command needs more arguments.'
    if (most !== undefined && operands.length > most)
      return `The argument ${quote(operands[most] as string)} is one too many.`
    for (const [index, operand] of operands.entries()) {
      const kind = first[index] ?? others
      const problem = this.value(kind, operand)
      if (problem) return problem
    }
    if (own && operands.length <= first.length) return this.value(own, '.')
    return null
  }

  /**
   * Many compilers, test runners and the GNU tools for object files read more arguments from a file that is given as `@file`. Most
   * of them, such as pytest and ruff, do so also where the value of an option is expected.
   */
  #listProblem(kind: ValueKind, value: string): string | null {
    const mayBeList =
      /^=?@/.test(value) && kind !== 'workspace' && (this.#group === 'project-code' || !namesNoFile.has(kind))
    return mayBeList ? `${quote(value)} may be a list of options or files.` : null
  }

  #flagValue(flag: Flag, name: string, value: string): string | null {
    if (flag.choices) return flag.choices.has(value) ? null : `${name} does not accept ${quote(value)} here.`
    return this.value(flag.kind, value)
  }

  value(kind: ValueKind, value: string): string | null {
    const problem = this.#listProblem(kind, value)
    if (problem) return problem
    switch (kind) {
      case 'text':
        return null
      case 'number':
        return /^[+-]?\d{1,15}[kKMG]?$/.test(value) ? null : `${quote(value)} is not a number.`
      case 'word':
        // Some tools pass a word on to git, which would take it as an option if it started with a dash.
        return /^[\w@%+=:,.^-]*$/.test(value) && !/^=?-|^[@%+=:,.^-]*$/.test(value)
          ? null
          : `${quote(value)} is not a simple word.`
      // Standard input is `-` for many programs. For others it is a file, so it must not lead out of the folder.
      case 'file':
        return this.#path(value, 'read')
      case 'listed':
        return this.#path(value, 'list')
      case 'tree':
        return this.#tree(value)
      case 'revision':
        return this.#revision(value)
      case 'lines':
        return this.#afterColons(value, null)
      case 'test':
        return this.#path(value.replace(/::.*$/s, ''), 'read')
      case 'workspace':
        return this.#path(value, 'read')
      case 'package':
        return this.#path(value.replace(/\/?\.\.\.$/, '') || '.', 'read')
      case 'none':
        return `The argument ${quote(value)} is not accepted here.`
    }
  }

  #path(path: string, use: PathUse, cwd = this.#site.cwd): string | null {
    const found = checkPath(path, { ...this.#site, cwd }, use)
    if (!found.ok) return found.reason
    this.paths.push(found.path)
    return null
  }

  #tree(path: string): string | null {
    const found = checkTree(path, this.#site, this.#filter)
    if (!found.ok) return found.reason
    this.paths.push(found.path)
    return null
  }

  /** A revision, a range of revisions, `revision:path` or a path. Git decides which of them it is, so all of them must be harmless. */
  #revision(value: string): string | null {
    const excluded = /^:(?:[!^]|\(exclude\))/.exec(value)?.[0] ?? ''
    if (excluded === '' && /^:[^\w.]/.test(value)) return `${quote(value)} is not a simple revision or path.`
    const colon = excluded.length > 0 ? -1 : value.indexOf(':')
    const revisions = colon < 0 ? value.slice(excluded.length) : value.slice(0, colon)
    const paths = /(?:^|\/)\.\.(?:\/|$)/.test(revisions) ? [revisions] : revisions.split(/\.{2,3}/)
    for (const path of paths) {
      const name = withoutAncestors(path.replace(/^\^/, ''))
      const problem = name === '' ? null : this.#path(name, 'read')
      if (problem) return problem
    }
    return colon < 0 ? null : this.#afterColons(value, repositoryFolder(this.#site))
  }

  /**
   * Checks the path in `revision:path`, `:0:path` and `:function:path`. A path and a function can contain colons, so the text after
   * each colon must be harmless. Without `.` at its start, the path of a revision counts from the top of the repository.
   */
  #afterColons(value: string, top: string | null): string | null {
    for (let at = value.indexOf(':'); at >= 0; at = value.indexOf(':', at + 1)) {
      const path = value.slice(at + 1)
      if (path === '') continue
      const isFromTop = top !== null && !/^\.\.?(?:\/|$)/.test(path)
      const problem = this.#path(path, 'read') ?? (isFromTop ? this.#path(path, 'read', top) : null)
      if (problem) return problem
    }
    return null
  }
}

/** Removes what selects an ancestor or an earlier value at the end of a revision, such as ~2, ^{commit} and @{yesterday}. */
function withoutAncestors(revision: string): string {
  let end = revision.length
  for (;;) {
    const before = revision[end - 1] === '}' ? startOfBraces(revision, end) : startOfSteps(revision, end)
    if (before === null) return revision.slice(0, end)
    end = before
  }
}
function startOfBraces(revision: string, end: number): number | null {
  const open = revision.lastIndexOf('{', end - 1)
  const isSelector = open > 0 && /[@^]/.test(revision.charAt(open - 1))
  return isSelector && /^[\w .-]*$/.test(revision.slice(open + 1, end - 1)) ? open - 1 : null
}
function startOfSteps(revision: string, end: number): number | null {
  let at = end
  while (/\d/.test(revision.charAt(at - 1))) at--
  return /[~^]/.test(revision.charAt(at - 1)) ? at - 1 : null
}

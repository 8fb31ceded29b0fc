/** Matches the rules that allow. They match only what can be proven: the exact command, arguments that a grammar knows, resolved paths, exact hosts and tools. */
import { type Action, actionKind, type Rule, type ToolCall } from '@holdpoint/protocol'
import { checkPath } from './files/check-path.ts'
import { checkTree, type TreeFilter } from './files/check-tree.ts'
import { normalHost } from './hosts.ts'
import { PathRules, type WithPath } from './path-rules.ts'
import { foldersAbove, foldPath, isInside, joinPath, parentOf, rulePath } from './paths.ts'
import { checkArguments } from './programs/check-arguments.ts'
import { addTo, type RuleWithWords } from './restricting-rules.ts'
import { isForSession, isInForce, type RuleContext } from './rule-context.ts'
import type { RuleNames } from './rule-names.ts'
import { canonicalCommand } from './shell/canonical-command.ts'
import { parseCommand } from './shell/parse-command.ts'
import type { CommandSegment } from './shell/parsed-command.ts'
import { workingFolders } from './shell/working-folders.ts'
import type { CallSite } from './site.ts'

/** The rules that allow a call, and for a shell command the text that is proven to be harmless. */
export type Allowed = { readonly rules: readonly [Rule, ...Rule[]]; readonly command?: string }
/** The reason why no allow rule matches. */
export type NotAllowed = { readonly reason: string }

const noMatch: NotAllowed = { reason: 'No rule matches.' }

/** The input fields of a shell tool that an allow rule accepts. Any other field may give the tool more access. */
const commandFields: Readonly<Record<string, 'string' | 'number'>> = {
  command: 'string',
  description: 'string',
  timeout: 'number',
}

type AppliesAt = (rule: Rule, site: CallSite) => boolean

export class AllowingRules {
  /** Rules with an exact command, by their words. */
  readonly #exact = new Map<string, Rule[]>()
  /** Rules with a command and further arguments, by the program. */
  readonly #grammar = new Map<string, { readonly words: readonly string[]; readonly rule: Rule }[]>()
  readonly #groups: Rule[] = []
  readonly #byPath = new PathRules<WithPath & { readonly rule: Rule }>()
  readonly #others: Rule[] = []
  /** The folder of each rule that has one, in the form in which paths are compared. */
  readonly #folders = new Map<Rule, string>()
  readonly #order = new Map<Rule, number>()

  constructor(rules: readonly RuleWithWords[]) {
    for (const { rule, words } of rules) {
      this.#order.set(rule, this.#order.size)
      if (rule.scope?.cwd !== undefined) this.#folders.set(rule, foldPath(joinPath('/', rule.scope.cwd)))
      if (rule.group !== undefined) this.#groups.push(rule)
      else if (rule.path !== undefined && words === null)
        this.#byPath.add({ ...rulePath(rule.path, rule.scope?.cwd ?? '/'), rule })
      else if (words === null) this.#others.push(rule)
      else if (rule.args === 'grammar') addTo(this.#grammar, words[0] ?? '', { words, rule })
      else addTo(this.#exact, JSON.stringify(words), rule)
    }
  }

  find(call: ToolCall, action: Action, context: RuleContext, names: RuleNames): Allowed | NotAllowed {
    const site = siteOf(call, action, context)
    const applies = this.#filter(call, context, names)
    if ('shell' in action) return this.#findForCommand(call, action.shell, site, context, applies)
    const paths = 'write' in action ? action.write : 'read' in action ? action.read : []
    const candidates = [...this.#others, ...this.#forPaths(paths, actionKind(action), site)]
      .filter(rule => applies(rule, site))
      .sort((a, b) => (this.#order.get(a) ?? 0) - (this.#order.get(b) ?? 0))
    const rule = candidates.find(rule => this.#matches(rule, action, site))
    return rule ? { rules: [rule] } : noMatch
  }

  /** Returns the rules that cover the first path of a call. No other rule can match, because a rule must cover all paths. */
  #forPaths([first]: readonly string[], kind: string, site: CallSite): readonly Rule[] {
    if (first === undefined || this.#byPath.size === 0 || (kind !== 'read' && kind !== 'write')) return []
    const { path } = checkPath(first, { ...site, folder: '/' }, kind)
    const found = this.#byPath.about(new Set([path]), new Set(path === '' ? [] : foldersAbove(path)))
    return [...found].map(({ rule }) => rule)
  }

  /** Returns a function that says whether a rule applies to a call at a site. The function looks up the folder of a rule only if the site may be in that folder, because each rule may have another folder. */
  #filter(call: ToolCall, context: RuleContext, names: RuleNames): AppliesAt {
    const foldersOf = new Map<string, ReadonlySet<string>>()
    const mayBeIn = (folder: string, cwd: string) => {
      let folders = foldersOf.get(cwd)
      if (!folders) {
        folders = names.namesOf([cwd, context.folder ?? cwd].map(foldPath)).folders
        foldersOf.set(cwd, folders)
      }
      return folders.has(folder)
    }
    return (rule, site) => {
      const folder = this.#folders.get(rule)
      if (folder !== undefined && !mayBeIn(folder, site.cwd)) return false
      return isApplicable(rule, call, context) && isInScope(rule, site, context)
    }
  }

  #findForCommand(
    call: ToolCall,
    text: string,
    site: CallSite,
    context: RuleContext,
    applies: AppliesAt,
  ): Allowed | NotAllowed {
    const isEmpty = this.#exact.size + this.#grammar.size + this.#groups.length === 0
    if (isEmpty) return noMatch
    const parsed = parseCommand(text)
    if (!parsed.provable) return { reason: parsed.reason }
    const command = canonicalCommand(parsed.segments)
    if (command !== text) {
      if (!context.isEditable || call.input.command !== text)
        return { reason: 'This agent cannot run the command as Holdpoint has read it.' }
    }
    const extra = Object.entries(call.input).find(
      ([name, value]) => !Object.hasOwn(commandFields, name) || typeof value !== commandFields[name],
    )
    if (extra && typeof call.input.command === 'string')
      return { reason: `No rule allows a command with the field ${JSON.stringify(extra[0])}.` }
    return this.#findForSegments(parsed.segments, command, site, context, applies)
  }

  #findForSegments(
    segments: readonly CommandSegment[],
    command: string,
    site: CallSite,
    context: RuleContext,
    applies: AppliesAt,
  ): Allowed | NotAllowed {
    const rules = new Set<Rule>()
    // If a `cd` may fail, the commands after it can run in several folders, and each must be allowed.
    const folders = workingFolders(segments, site.cwd)
    for (const [index, segment] of segments.entries()) {
      const { argv } = segment
      for (const folder of folders[index] ?? []) {
        const cwd = realFolder(folder, site)
        if (argv[0] === 'cd') {
          if (!isFolderInside(argv[1] ?? '', { ...site, cwd }))
            return { reason: 'The command changes to a folder that no rule covers.' }
          continue
        }
        const found = this.#ruleFor(segment, { ...site, cwd }, context, applies)
        if (!('rule' in found)) return found
        rules.add(found.rule)
      }
    }
    const [first, ...others] = rules
    return first ? { rules: [first, ...others], command } : noMatch
  }

  #ruleFor(
    { argv, operator }: CommandSegment,
    site: CallSite,
    context: RuleContext,
    appliesAt: AppliesAt,
  ): { readonly rule: Rule } | NotAllowed {
    const applies = (rule: Rule) => appliesAt(rule, site)
    const exact = this.#exact.get(JSON.stringify(argv))?.find(applies)
    // Input from a pipe can be code. A program is certain not to run its input only if Holdpoint knows its arguments.
    if (exact && (operator !== '|' || checkArguments(argv, site).ok)) return { rule: exact }
    if (context.folder === null) return { reason: 'Holdpoint does not know in which folder this agent runs.' }
    const candidates = [
      ...(this.#grammar.get(argv[0] ?? '') ?? [])
        .filter(({ words }) => words.every((word, index) => argv[index] === word))
        .map(({ rule }) => rule),
      ...this.#groups,
    ].filter(applies)
    if (candidates.length === 0) return noMatch
    const checked = checkArguments(argv, site)
    if (!checked.ok) return { reason: checked.reason }
    const rule = candidates.find(({ group }) => group === undefined || group === checked.group)
    return rule ? { rule } : noMatch
  }

  #matches(rule: Rule, action: Action, site: CallSite): boolean {
    const kind = actionKind(action)
    if (rule.action !== undefined && rule.action !== kind) return false
    if (rule.host !== undefined)
      return 'fetch' in action && normalHost(action.fetch) !== '' && normalHost(action.fetch) === normalHost(rule.host)
    if (rule.mcp !== undefined)
      return 'mcp' in action && action.mcp === rule.mcp.server && action.tool === rule.mcp.tool
    if (rule.path === undefined) return false
    // A rule allows writing only if it says so.
    const access = rule.action === 'write' ? 'write' : 'read'
    if (kind !== access || site.folder === '') return false
    const paths = 'write' in action ? action.write : 'read' in action ? action.read : []
    const covered = rulePath(rule.path, rule.scope?.cwd ?? '/')
    return paths.every(path => coversPath(covered, path, access, site))
  }
}

/** Returns the site of a call: the folders and files that its paths refer to. */
export function siteOf(call: ToolCall, action: Action, context: RuleContext): CallSite {
  return {
    // If nobody knows where the agent runs, only rules that need no folder match: exact rules for its session.
    folder: context.folder ?? '',
    cwd: realFolder('shell' in action ? action.cwd : call.cwd, context),
    home: context.home,
    files: context.files,
  }
}

function isApplicable(rule: Rule, call: ToolCall, context: RuleContext): boolean {
  if (rule.tool !== undefined && rule.tool !== call.tool) return false
  return isForSession(rule, context) && isInForce(rule, context)
}

/** Returns whether a call runs in the folder of an allow rule. The call must also be inside the folder in which the session really runs. */
function isInScope({ scope, group, command, source }: Rule, site: CallSite, context: RuleContext): boolean {
  const { folder } = context
  // The scope of a rule from a project's file may be a link that leads out of the project.
  if (source?.project && !isInside(site.cwd, parentOf(source.file))) return false
  if (folder === null) return scope?.session !== undefined && scope.cwd === undefined
  if (!isInside(site.cwd, folder)) return false
  if (scope?.cwd === undefined) return true
  const ruleFolder = realFolder(scope.cwd, site)
  if (group !== undefined) return isInside(folder, ruleFolder)
  // A command can mean something else in another folder of the session; a path, a host or an MCP tool cannot.
  return site.cwd === ruleFolder || (command === undefined && folder === ruleFolder)
}

/** Returns whether `cd` to this path stays inside the session's folder. */
function isFolderInside(path: string, site: CallSite): boolean {
  return checkPath(path, site, 'read').ok
}

/** Returns the folder with its symbolic links resolved, or the folder itself if they cannot be resolved. */
function realFolder(folder: string, { files }: Pick<CallSite, 'files'>): string {
  return files?.realPath(folder) ?? folder
}

/** Returns whether the path of a rule covers a path. A rule for a folder never covers protected or secret files; a rule with exactly that path does. */
function coversPath(
  covered: ReturnType<typeof rulePath>,
  path: string,
  access: 'read' | 'write',
  site: CallSite,
): boolean {
  const anywhere = { ...site, folder: '/' }
  const checked = checkPath(path, anywhere, access)
  const isCovered = covered.isFolder
    ? checked.ok && isInside(checked.path, covered.path)
    : checked.path === covered.path
  const isFolder = isCovered && (site.files?.list?.(checked.path) ?? null) !== null
  return isFolder ? checkTree(path, anywhere, everything).ok : isCovered
}

/** A tool that searches a folder may read everything in it. */
const everything: TreeFilter = { skippedFolders: new Set(), skipsHidden: false, followsLinks: false, endings: null }

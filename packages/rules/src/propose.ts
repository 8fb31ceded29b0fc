/** Proposes the narrowest useful rules for a request, from which a person can choose to allow the same from now on. */
import {
  type Action,
  actionOf,
  type Rule,
  type RuleDraft,
  RuleId,
  type RuleProposal,
  type ToolCall,
} from '@holdpoint/protocol'
import { RuleSet } from './evaluate.ts'
import { checkPath } from './files/check-path.ts'
import { withLimitedLookup } from './files/limited-lookup.ts'
import { parentOf } from './paths.ts'
import { checkArguments, hasGrammar } from './programs/check-arguments.ts'
import type { RuleContext } from './rule-context.ts'
import { ruleProblem } from './rule-validation.ts'
import { canonicalCommand, quoteWord } from './shell/canonical-command.ts'
import { parseCommand } from './shell/parse-command.ts'
import { canRunOthers } from './shell/wrapper-programs.ts'
import type { CallSite } from './site.ts'

export interface Proposals {
  readonly items: readonly RuleProposal[]
  /** The reason why there are no proposals, or no more of them. */
  readonly reason: string
}

const none = (reason: string): Proposals => ({ items: [], reason })

export function proposeRules(call: ToolCall, context: RuleContext): Proposals {
  const tooMany = none('This call names too many files to check, so a person has to decide each time.')
  return withLimitedLookup(
    context.files,
    files => usable(proposals(call, { ...context, files }), call, { ...context, files }),
    tooMany,
  )
}

const proposedId = RuleId.parse('rul_00000000000000000000')

/** Leaves out rules that cannot be saved or would not allow this call. If the narrowest rule is left out, its problem becomes the reason. */
function usable({ items, reason }: Proposals, call: ToolCall, context: RuleContext): Proposals {
  const checked = items.map(item => {
    const rule: Rule = { ...item.rule, id: proposedId, madeBy: '', madeAt: context.now, version: 0 }
    const { verdict, reason } = new RuleSet([rule]).evaluate(call, context)
    return { item, problem: ruleProblem(rule) ?? (verdict === 'allow' ? null : reason) }
  })
  const left = checked.filter(({ problem }) => problem === null).map(({ item }) => item)
  return { items: left, reason: reason || (checked[0]?.problem ?? '') }
}

function proposals(call: ToolCall, context: RuleContext): Proposals {
  const { folder } = context
  if (folder === null) return none('Holdpoint does not know in which folder this agent runs.')
  const action = actionOf(call)
  const site: CallSite = {
    folder,
    cwd: 'shell' in action ? action.cwd : call.cwd,
    home: context.home,
    files: context.files,
  }
  if ('shell' in action) return commandProposals(action.shell, site)
  if ('fetch' in action)
    return one(
      { effect: 'allow', action: 'fetch', host: action.fetch, scope: { cwd: folder } },
      `Fetch anything from ${action.fetch}, in sessions in this folder.`,
    )
  if ('mcp' in action)
    return one(
      { effect: 'allow', mcp: { server: action.mcp, tool: action.tool }, scope: { cwd: folder } },
      `Use the tool ${action.tool} of the MCP server ${action.mcp} with any input, in sessions in this folder.`,
    )
  if ('other' in action)
    return none(`Holdpoint does not know what ${action.other} does, so a person has to decide each time.`)
  return fileProposals(action, site)
}

function one(rule: RuleDraft, explanation: string): Proposals {
  return { items: [{ rule, explanation, runsProjectCode: false }], reason: '' }
}

function commandProposals(text: string, site: CallSite): Proposals {
  const parsed = parseCommand(text)
  if (!parsed.provable) return none(`A rule needs a command that Holdpoint can read completely. ${parsed.reason}`)
  const [first, ...others] = parsed.segments
  if (!first || others.length > 0) return none('A rule is for one command, and this one has several parts.')
  const { argv } = first
  const words = canonicalCommand([{ argv, operator: null, redirects: [] }])
  const checked = checkArguments(argv, site)
  const [program = ''] = argv
  if (!checked.ok && canRunOthers(argv))
    return none(`${program} can run other programs, and Holdpoint does not know these arguments. Allow it each time.`)
  const runsProjectCode = !checked.ok || checked.group === 'project-code'
  const scope = { cwd: site.cwd }
  const items: RuleProposal[] = [
    {
      rule: { effect: 'allow', command: words, scope },
      explanation: `Run exactly “${words}” in this folder.`,
      runsProjectCode,
    },
  ]
  if (checked.ok) {
    const start = grammarStart(argv).map(quoteWord).join(' ')
    items.push({
      rule: { effect: 'allow', command: start, args: 'grammar', scope },
      explanation: `Run “${start}” in this folder with any arguments that Holdpoint knows to be harmless.`,
      runsProjectCode,
    })
    items.push({
      rule: { effect: 'allow', group: checked.group, scope: { cwd: site.folder } },
      explanation:
        checked.group === 'only-reads'
          ? 'Run every command that only reads files in this folder.'
          : 'Run every command that tests, checks or builds this project.',
      runsProjectCode,
    })
  }
  return { items, reason: '' }
}

function fileProposals(action: Extract<Action, { write: unknown } | { read: unknown }>, site: CallSite): Proposals {
  const isWrite = 'write' in action
  const kind = isWrite ? 'write' : 'read'
  const paths = isWrite ? action.write : action.read
  const [path] = paths
  if (path === undefined || paths.length > 1) return none('A rule is for one file, and this request names several.')
  const checked = checkPath(path, site, kind)
  const verb = isWrite ? 'Change' : 'Read'
  const scope = { cwd: site.folder }
  const items: RuleProposal[] = [
    {
      rule: { effect: 'allow', action: kind, path: checked.path, scope },
      explanation: `${verb} exactly this file, whatever its content.`,
      runsProjectCode: false,
    },
  ]
  // A rule for a folder never covers protected and secret files, and none is proposed for a folder outside the session's folder.
  if (checked.ok)
    for (const folder of new Set([parentOf(checked.path), site.folder]))
      items.push({
        rule: { effect: 'allow', action: kind, path: `${folder}/**`, scope },
        explanation: `${verb} every file in ${folder} and below, except settings and secrets.`,
        runsProjectCode: false,
      })
  return { items, reason: checked.ok ? '' : checked.reason }
}

/** Returns the shortest beginning of the command that names a program, or a subcommand, whose arguments Holdpoint knows; an empty list if there is none. */
function grammarStart(argv: readonly string[]): readonly string[] {
  return argv.slice(0, argv.findIndex((_, index) => hasGrammar(argv.slice(0, index + 1))) + 1)
}

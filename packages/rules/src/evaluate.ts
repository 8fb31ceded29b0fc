/** Evaluates rules for a tool call: first the built-in ones, then those that people have added. A rule that a person added matches exactly or not at all. If no rule matches, Holdpoint asks a person. */
import { type ApprovalAsk, Fault, type Rule, type RuleDraft, type SessionId, type Verdict } from '@holdpoint/protocol'
import { type BuiltInContext, evaluateBuiltInRules } from './built-in.ts'

export interface RuleContext {
  readonly driver: string
  readonly session: SessionId | null
  /** The folder in which the session runs; null if the gateway knows it only from the agent. */
  readonly folder: string | null
  readonly now: number
  readonly builtIn: BuiltInContext
}
export type RuleSubject = Pick<ApprovalAsk, 'tool' | 'input' | 'cwd'>

const precedence = { deny: 2, ask: 1, allow: 0 } as const

/** Returns the verdict of the matching rules: deny beats ask, and ask beats allow. The verdict is ask if no rule matches. */
export function evaluateRules(rules: readonly Rule[], subject: RuleSubject, context: RuleContext): Verdict {
  const builtIn = evaluateBuiltInRules(subject, context.builtIn)
  if (builtIn?.verdict === 'deny') return builtIn
  let winner: Rule | undefined
  for (const rule of rules)
    if (matches(rule, subject, context) && (!winner || precedence[rule.effect] > precedence[winner.effect]))
      winner = rule
  if (builtIn && winner?.effect !== 'deny') return builtIn
  if (!winner) return { verdict: 'ask', reason: 'no rule matches' }
  return { verdict: winner.effect, rule: winner.id, reason: winner.note ?? `${winner.effect} ${describe(winner)}` }
}

/** The input fields that an allow rule accepts, with their types: the command or path of the rule, and fields that do not give the tool more access. */
type AllowedFields = Readonly<Record<string, 'string' | 'number'>>
const commandFields: AllowedFields = { command: 'string', description: 'string', timeout: 'number' }
/** Tools that only read a file, with the input fields of each tool. */
const readOnlyTools: Readonly<Record<string, AllowedFields>> = {
  Read: { file_path: 'string', offset: 'number', limit: 'number' },
}

function matches(rule: Rule, subject: RuleSubject, context: RuleContext): boolean {
  if (rule.tool !== subject.tool) return false
  if (rule.expiresAt !== undefined && context.now >= rule.expiresAt) return false
  if (rule.scope?.driver !== undefined && rule.scope.driver !== context.driver) return false
  if (rule.scope?.session !== undefined && rule.scope.session !== context.session) return false
  if (rule.scope?.cwd !== undefined && !isInFolder(rule.effect, rule.scope.cwd, subject, context)) return false
  if (rule.command !== undefined && rule.command !== subject.input.command) return false
  if (rule.path !== undefined && rule.path !== subject.input.file_path) return false
  return rule.effect !== 'allow' || (broadAllowProblem(rule) === null && hasOnly(subject.input, allowedFields(rule)))
}

/** Returns whether a call runs in the folder of a rule. An allow rule must not depend on the agent's claim alone: the session must run in that folder, and the agent must not claim another folder for the call. Other rules also apply if only the agent claims the folder. */
function isInFolder(effect: Rule['effect'], folder: string, subject: RuleSubject, context: RuleContext): boolean {
  if (effect === 'allow') return context.folder === folder && subject.cwd === folder
  return context.folder === folder || subject.cwd === folder
}

function allowedFields(rule: RuleDraft): AllowedFields | undefined {
  if (rule.command !== undefined) return commandFields
  return Object.hasOwn(readOnlyTools, rule.tool) ? readOnlyTools[rule.tool] : undefined
}

function hasOnly(input: RuleSubject['input'], fields: AllowedFields | undefined): boolean {
  return (
    fields !== undefined &&
    Object.entries(input).every(([name, value]) => Object.hasOwn(fields, name) && typeof value === fields[name])
  )
}

/** Returns why an allow rule is too broad, or null if it is not. A broad allow rule would allow calls that no person has seen; deny and ask rules may be broad. */
function broadAllowProblem({ effect, tool, command, path, scope }: RuleDraft): string | null {
  if (effect !== 'allow') return null
  if (command === undefined && path === undefined)
    return `An allow rule for every use of ${tool} is too broad. Name the exact command or path.`
  if (command !== undefined && path !== undefined) return 'An allow rule must name a command or a path, not both.'
  if (command === undefined && !Object.hasOwn(readOnlyTools, tool))
    return `An allow rule with a path is possible only for tools that read (${Object.keys(readOnlyTools).join(', ')}). A person must see what ${tool} does.`
  const isScoped = (scope?.cwd !== undefined && isAbsolute(scope.cwd)) || scope?.session !== undefined
  if (isScoped || path?.startsWith('/')) return null
  return 'The same command or path can mean something else in another folder. Add scope.cwd or scope.session to the allow rule.'
}

/** Returns whether this is an absolute path on a POSIX system or on Windows. A relative path could mean any folder. */
function isAbsolute(path: string): boolean {
  return /^(\/|\\\\|[a-z]:[\\/])/i.test(path)
}

function describe(rule: RuleDraft): string {
  return [rule.tool, rule.command ?? rule.path].filter(part => part !== undefined).join(' ')
}

/** Throws a Fault if the rule uses fields that are not supported yet, because `matches` would ignore them, or if it is an allow rule that is too broad. */
export function validateRule(draft: RuleDraft): RuleDraft {
  for (const field of ['when', 'host', 'usesLeft'] as const)
    if (draft[field] !== undefined)
      throw new Fault('unsupported', `Rules with "${field}" are not supported yet. Leave out "${field}".`)
  if (draft.args === 'grammar')
    throw new Fault('unsupported', 'args "grammar" is not supported yet. Use "exact", which matches only that command.')
  if (draft.scope?.cwd !== undefined && !isAbsolute(draft.scope.cwd))
    throw new Fault(
      'unsupported',
      `scope.cwd must be the absolute path of a folder, not ${JSON.stringify(draft.scope.cwd)}.`,
    )
  const problem = broadAllowProblem(draft)
  if (problem) throw new Fault('unsupported', problem)
  return draft
}

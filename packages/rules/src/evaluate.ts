/** Evaluates rules for a tool call. A rule matches exactly or not at all; if no rule matches, a person is asked. */
import { type ApprovalAsk, Fault, type Rule, type RuleDraft, type SessionId, type Verdict } from '@holdpoint/protocol'

export interface RuleContext {
  readonly driver: string
  readonly session: SessionId | null
  readonly now: number
}
export type RuleSubject = Pick<ApprovalAsk, 'tool' | 'input' | 'cwd'>

const precedence = { deny: 2, ask: 1, allow: 0 } as const

/** Deny beats ask, and ask beats allow. Without a matching rule the verdict is ask. */
export function evaluateRules(rules: readonly Rule[], subject: RuleSubject, context: RuleContext): Verdict {
  let winner: Rule | undefined
  for (const rule of rules)
    if (matches(rule, subject, context) && (!winner || precedence[rule.effect] > precedence[winner.effect]))
      winner = rule
  if (!winner) return { verdict: 'ask', reason: 'no rule matches' }
  return { verdict: winner.effect, rule: winner.id, reason: winner.note ?? `${winner.effect} ${describe(winner)}` }
}

/** The input fields that an allow rule accepts: the field that the rule names, and fields that do not change what is done. */
type AllowedFields = Readonly<Record<string, 'string' | 'number'>>
const commandFields: AllowedFields = { command: 'string', description: 'string', timeout: 'number' }
/** Tools that only read a file, with their input fields. */
const readOnlyTools: Readonly<Record<string, AllowedFields>> = {
  Read: { file_path: 'string', offset: 'number', limit: 'number' },
}

function matches(rule: Rule, subject: RuleSubject, context: RuleContext): boolean {
  if (rule.tool !== subject.tool) return false
  if (rule.expiresAt !== undefined && context.now >= rule.expiresAt) return false
  if (rule.scope?.driver !== undefined && rule.scope.driver !== context.driver) return false
  if (rule.scope?.session !== undefined && rule.scope.session !== context.session) return false
  if (rule.scope?.cwd !== undefined && rule.scope.cwd !== subject.cwd) return false
  if (rule.command !== undefined && rule.command !== subject.input.command) return false
  if (rule.path !== undefined && rule.path !== subject.input.file_path) return false
  return rule.effect !== 'allow' || (broadAllowProblem(rule) === null && hasOnly(subject.input, allowedFields(rule)))
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

/** Why an allow rule would allow more than a person has seen; null if it would not. Deny and ask rules may be broad. */
function broadAllowProblem({ effect, tool, command, path, scope }: RuleDraft): string | null {
  if (effect !== 'allow') return null
  if (command === undefined && path === undefined)
    return `An allow rule for every use of ${tool} is too broad. Name the exact command or path.`
  if (command !== undefined && path !== undefined) return 'An allow rule must name a command or a path, not both.'
  if (command === undefined && !Object.hasOwn(readOnlyTools, tool))
    return `An allow rule with a path works only for tools that only read (${Object.keys(readOnlyTools).join(', ')}). A person must see what ${tool} does.`
  const isScoped = scope?.cwd !== undefined || scope?.session !== undefined
  if (isScoped || path?.startsWith('/')) return null
  return 'The same command or path means something else in another folder. Add scope.cwd or scope.session to the allow rule.'
}

function describe(rule: RuleDraft): string {
  return [rule.tool, rule.command ?? rule.path].filter(part => part !== undefined).join(' ')
}

/** Throws for a rule with features that do not work yet: stored, it would never match, and nobody would notice. */
export function validateRule(draft: RuleDraft): RuleDraft {
  for (const field of ['when', 'host', 'usesLeft'] as const)
    if (draft[field] !== undefined)
      throw new Fault('unsupported', `Rules with "${field}" are not supported yet. Leave it out.`)
  if (draft.args === 'grammar')
    throw new Fault('unsupported', 'args "grammar" is not supported yet. Use "exact", which matches only that command.')
  const problem = broadAllowProblem(draft)
  if (problem) throw new Fault('unsupported', problem)
  return draft
}

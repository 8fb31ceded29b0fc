/** The facts about a call that rules use besides its input, and the verdict of the rules. */
import type { Rule, RunnerId, SessionId, Verdict } from '@holdpoint/protocol'
import type { BuiltInContext } from './built-in.ts'
import type { FileLookup } from './site.ts'

export interface RuleContext {
  readonly driver: string
  readonly session: SessionId | null
  /** The runner on whose machine the agent runs; null if nobody knows the machine. */
  readonly runner: RunnerId | null
  /** The folder in which the session runs; null if the gateway knows it only from the agent. */
  readonly folder: string | null
  /** Whether only the agent's program says that it works in this folder. Rules that deny or ask use the folder, and rules that allow do not. */
  readonly isFolderClaimed?: boolean
  /** The names of the subagents down to the one that acts. */
  readonly agentPath: readonly string[]
  /** Whether the agent runs an edited input. If it does not, an allow rule needs a command that is already in canonical quoting. */
  readonly isEditable: boolean
  readonly now: number
  /** The home folder of the user that agents run as. */
  readonly home: string
  /** Null if the agent runs on another machine, whose files cannot be looked at. */
  readonly files: FileLookup | null
  readonly builtIn: BuiltInContext
  /** Returns whether the rule is used up, or its turn or session has ended. */
  readonly isUsedUp: (rule: Rule) => boolean
}

/** A verdict, and the rules that led to it. A command of several parts may need several allow rules. */
export interface Decision extends Verdict {
  readonly rules: readonly Rule[]
}

/** Returns whether a rule is in force: it is not paused, expired or used up, and a file that nobody has trusted can only restrict. */
export function isInForce(rule: Rule, context: RuleContext): boolean {
  if (rule.paused) return false
  if (rule.expiresAt !== undefined && context.now >= rule.expiresAt) return false
  if (rule.source && !rule.source.trusted && rule.effect === 'allow') return false
  return !context.isUsedUp(rule)
}

/** Returns whether a rule is for this session and agent. The folder is checked separately, because it means something else for allow rules. */
export function isForSession(rule: Rule, context: RuleContext): boolean {
  const { scope } = rule
  if (!isForMachine(rule, context)) return false
  if (!scope) return true
  if (scope.driver !== undefined && scope.driver !== context.driver) return false
  if (scope.session !== undefined && scope.session !== context.session) return false
  if (scope.agentPath === undefined || scope.agentPath.length === 0) return true
  // If the gateway knows the session only from the agent, the names of subagents are a claim as well.
  if (rule.effect === 'allow' && context.folder === null) return false
  return scope.agentPath.every((name, index) => context.agentPath[index] === name)
}

/** Returns whether the rule applies on the machine of the agent. The same path can be another project on another machine. If nobody knows the machine, a rule from a project's file can only restrict. */
function isForMachine({ source, effect }: Rule, { runner }: RuleContext): boolean {
  if (!source?.project) return true
  return runner === null ? effect !== 'allow' : runner === source.runner
}

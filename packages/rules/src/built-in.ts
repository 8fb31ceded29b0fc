/** The built-in rules of every gateway, which nobody can remove. They deny calls that could give an agent Holdpoint's own credentials. */
import { hasCredential, type Rule, RuleId, type ToolCall, type Verdict } from '@holdpoint/protocol'
import type { ProtectedFolder } from './protected-folder.ts'

function builtInRule(id: string, note: string): Rule {
  return { id: RuleId.parse(id), effect: 'deny', note, madeBy: 'Holdpoint', madeAt: 0, version: 1 }
}
export const dataFolderRule = builtInRule('rul_00000000000000000001', 'Built-in: Holdpoint’s own data folder')
export const credentialRule = builtInRule('rul_00000000000000000002', 'Built-in: Holdpoint’s own credentials')

/** The facts about a call that the built-in rules use. */
export interface BuiltInContext {
  readonly protectedFolder: ProtectedFolder | null
  /** The session's folder as the gateway knows it. The folder in the ask is only a claim of the agent. */
  readonly cwd: string
}

const advice = 'Agents may not read or change it; leave it out of the call.'
const credentialAdvice = 'The input contains one; leave it out of the call.'
const tooLong = 'This call is too long to check, so a person has to decide.'

/** Returns null if no built-in rule applies. */
export function evaluateBuiltInRules(subject: ToolCall, context: BuiltInContext): Verdict | null {
  // The gateway masks credentials in stored requests, so the agent could not run the call exactly as a person approved it.
  if (hasCredential(subject.input)) return denial(credentialRule, credentialAdvice)
  const touch = context.protectedFolder?.touchedBy(subject.tool, subject.input, [context.cwd, subject.cwd]) ?? 'no'
  if (touch === 'no') return null
  const denied = denial(dataFolderRule, touch === 'yes' ? advice : tooLong)
  return touch === 'yes' ? denied : { ...denied, verdict: 'ask' }
}

function denial({ id, note }: Rule, sentence: string): Verdict {
  return { verdict: 'deny', rule: id, reason: `${note}. ${sentence}` }
}

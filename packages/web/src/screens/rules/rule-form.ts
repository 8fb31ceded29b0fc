/** The fields of the form for a rule, and their conversion from and to a rule. */
import { needsSession, type RuleDuration, ruleExpiry } from '@holdpoint/client'
import {
  type CommandGroup,
  type Rule,
  type RuleDraft,
  type RuleEffect,
  ruleEffects,
  type SessionId,
} from '@holdpoint/protocol'
import type { May } from '../../gateway/gateway-context.ts'
import { limitsOf, parseUses } from '../../request/rule/rule-limits.ts'

export type TargetKind = 'command' | 'group' | 'path' | 'host' | 'mcp' | 'other'
export type Access = 'read' | 'write' | 'any'

export interface RuleForm {
  readonly effect: RuleEffect
  readonly kind: TargetKind
  readonly command: string
  readonly harmlessArguments: boolean
  readonly group: CommandGroup
  readonly path: string
  readonly access: Access
  readonly host: string
  readonly server: string
  readonly tool: string
  readonly folder: string
  readonly session: SessionId | null
  /** The name of the driver; empty for all. */
  readonly driver: string
  /** The names of the subagents, from the outermost to the one that the rule is for, one per line. */
  readonly subagent: string
  /** `keep` keeps the limits of the rule that is edited. */
  readonly duration: RuleDuration | 'keep'
  readonly uses: string
  readonly message: string
  readonly note: string
}

export const emptyForm: RuleForm = {
  effect: 'allow',
  kind: 'command',
  command: '',
  harmlessArguments: false,
  group: 'only-reads',
  path: '',
  access: 'read',
  host: '',
  server: '',
  tool: '',
  folder: '',
  session: null,
  driver: '',
  subagent: '',
  duration: 'none',
  uses: '',
  message: '',
  note: '',
}

/** Returns the effects that a person may give to a rule. */
export function effectsFor(may: May): readonly RuleEffect[] {
  return ruleEffects.filter(effect => effect !== 'allow' || may('rule.allow'))
}

export function emptyFormFor([first = emptyForm.effect]: readonly RuleEffect[]): RuleForm {
  return { ...emptyForm, effect: first }
}

function kindOf({ command, group, path, host, mcp }: RuleDraft): TargetKind {
  if (command !== undefined) return 'command'
  if (group !== undefined) return 'group'
  if (path !== undefined) return 'path'
  if (host !== undefined) return 'host'
  return mcp === undefined ? 'other' : 'mcp'
}

export function formOf(rule: Rule): RuleForm {
  const { effect, command, args, group, path, action, host, mcp, scope, usesLeft, message, note } = rule
  const hasEnd = rule.expiresAt !== undefined || rule.until !== undefined
  return {
    effect,
    kind: kindOf(rule),
    command: command ?? '',
    harmlessArguments: args === 'grammar',
    group: group ?? emptyForm.group,
    path: path ?? '',
    access: action === 'read' || action === 'write' ? action : 'any',
    host: host ?? '',
    server: mcp?.server ?? '',
    tool: mcp?.tool ?? '',
    folder: scope?.cwd ?? '',
    session: scope?.session ?? null,
    driver: scope?.driver ?? '',
    subagent: pathText(scope?.agentPath),
    duration: hasEnd ? 'keep' : 'none',
    uses: usesLeft === undefined ? '' : String(usesLeft),
    message: message ?? '',
    note: note ?? '',
  }
}

/** Returns the targets that the form offers. Only an allow rule can name a group, and only a rule that already has another target keeps it. */
export function targetKinds(effect: RuleEffect, edited: Rule | null): readonly TargetKind[] {
  const kinds: readonly TargetKind[] = ['command', 'group', 'path', 'host', 'mcp']
  const offered = kinds.filter(kind => kind !== 'group' || effect === 'allow')
  return edited && kindOf(edited) === 'other' ? [...offered, 'other'] : offered
}

/** Returns the rule that the form describes, or null if it is not complete. The gateway checks the rest. `edited` is the rule to change. */
export function draftOf(form: RuleForm, edited: Rule | null, now: number): RuleDraft | null {
  const { effect, duration, message, note } = form
  const uses = effect === 'allow' ? parseUses(form.uses) : undefined
  if (uses === null) return null
  const scope = scopeOf(form, edited)
  const limits =
    duration === 'keep'
      ? { ...endOf(edited), ...limitsOf('none', undefined, uses) }
      : limitsOf(duration, ruleExpiry(duration, now), uses)
  const target = targetOf(form, edited)
  if (target === null) return null
  return {
    effect,
    ...target,
    ...(Object.keys(scope).length > 0 && { scope }),
    ...limits,
    ...(effect === 'deny' && message.trim() && { message: message.trim() }),
    ...(note.trim() && { note: note.trim() }),
    ...(edited?.paused && { paused: true }),
  }
}

/** Returns what the rule matches, or null if a text is missing. */
function targetOf(form: RuleForm, edited: Rule | null): Partial<RuleDraft> | null {
  const { effect, kind, command, harmlessArguments, group, path, host, server, tool } = form
  // The agent's own name of a tool is not in the form, so it stays as long as the target does.
  const named = edited?.tool !== undefined && kindOf(edited) === kind ? { tool: edited.tool } : {}
  switch (kind) {
    case 'command':
      if (!command.trim()) return null
      return { ...named, command: command.trim(), ...(effect === 'allow' && harmlessArguments && { args: 'grammar' }) }
    case 'group':
      return { group }
    case 'path':
      return path.trim() ? { ...named, path: path.trim(), ...accessedBy(accessOf(form)) } : null
    case 'host':
      return host.trim() ? { ...named, host: host.trim() } : null
    case 'mcp':
      if (!server.trim()) return null
      return { ...named, mcp: { server: server.trim(), ...(tool.trim() && { tool: tool.trim() }) } }
    case 'other':
      return { ...named, ...(edited?.action !== undefined && { action: edited.action }) }
  }
}

function accessedBy(access: Access): Pick<RuleDraft, 'action'> {
  return access === 'any' ? {} : { action: access }
}

/** Returns the access of a rule for a path. One allow rule never covers both reading and writing. */
export function accessOf({ effect, access }: RuleForm): Access {
  return effect === 'allow' && access === 'any' ? 'read' : access
}

function scopeOf({ folder, session, driver, subagent }: RuleForm, edited: Rule | null): RuleDraft['scope'] & object {
  const before = edited?.scope?.agentPath
  // A name of the edited rule may have a line break, so an unchanged path stays as it is.
  const agentPath = before && subagent === pathText(before) ? before : namesIn(subagent)
  return {
    ...(folder.trim() && { cwd: folder.trim() }),
    ...(session && { session }),
    ...(driver && { driver }),
    ...(agentPath.length > 0 && { agentPath }),
  }
}

function pathText(agentPath: readonly string[] = []): string {
  return agentPath.join('\n')
}
function namesIn(text: string): string[] {
  return text
    .split('\n')
    .map(name => name.trim())
    .filter(name => name !== '')
}

function endOf(edited: Rule | null): object {
  return {
    ...(edited?.until !== undefined && { until: edited.until }),
    ...(edited?.expiresAt !== undefined && { expiresAt: edited.expiresAt }),
  }
}

/** Returns whether the rule needs a folder, unless it is for one session. */
export function needsFolder({ effect, kind, session }: RuleForm): boolean {
  return effect === 'allow' && (kind === 'group' || (kind === 'command' && session === null))
}

/** Returns whether a duration can be chosen. The turn and the session are those of the rule's session. */
export function isOffered(duration: RuleDuration, { session }: RuleForm): boolean {
  return session !== null || !needsSession(duration)
}

/** Returns what a rule matches, without its history and its limits. */
export function draftIn(rule: Rule): RuleDraft {
  const { effect, tool, action, command, args, group, path, host, mcp, scope } = rule
  return { effect, tool, action, command, args, group, path, host, mcp, scope }
}

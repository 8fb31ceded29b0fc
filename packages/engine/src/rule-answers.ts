/** Applies rules to requests: finds the verdict for a call, resolves a request by it, and counts how often each rule was used. */
import {
  type Answer,
  type ApprovalAsk,
  type Ask,
  actionKind,
  actionOf,
  digestText,
  editedCall,
  type JsonObject,
  type Risk,
  type Rule,
  type RunnerId,
  type SessionId,
  type ToolCall,
} from '@holdpoint/protocol'
import { type Decision, type RuleContext, riskOf } from '@holdpoint/rules'
import { externalDriver } from './authorization.ts'
import type { ChangeBuilder } from './change-builder.ts'
import { type AgentMachine, type Context, sha256 } from './context.ts'
import { markNeedsRunner, resolveRequest } from './request-transitions.ts'
import type { DraftRow, RequestRow, RuleRow, SessionRow, WatchReply } from './rows.ts'
import { hasEnded } from './rule-changes.ts'

/** The parts of a session that rules look at. The id is null if there is no session, as in a check of draft rules. */
export type RuleSession = Pick<
  SessionRow,
  'driver' | 'cwd' | 'openedBy' | 'lease' | 'runner' | 'turnEndedSeq' | 'endedSeq'
> & {
  readonly id: SessionId | null
  readonly options?: SessionRow['options']
}
export interface CallDetails {
  readonly agentPath: readonly string[]
  /** Whether the agent can run an edited input. */
  readonly isEditable: boolean
}

/** Returns the machine on which the agent of a session runs, or null if it is not this gateway's machine or is not known. */
function machineOf(ctx: Context, session: RuleSession): AgentMachine | null {
  if (!ctx.machine || session.driver === externalDriver) return null
  return (runnerOf(session) ?? ctx.machine.runner) === ctx.machine.runner ? ctx.machine : null
}

/** Returns the runner that drives a session or drove it last. While a session is parked, its requests concern the machine on which they were asked. */
function runnerOf({ lease, runner }: RuleSession): RunnerId | null {
  return lease?.runner ?? runner
}

export function ruleContext(
  ctx: Context,
  session: RuleSession,
  { agentPath, isEditable }: CallDetails,
  now: number,
  isUsedUp: RuleContext['isUsedUp'],
): RuleContext {
  const { id, driver, cwd } = session
  const machine = machineOf(ctx, session)
  return {
    driver,
    session: id,
    runner: driver === externalDriver ? null : (runnerOf(session) ?? ctx.machine?.runner ?? null),
    folder: isFolderKnown(session) ? (machine?.files.realPath(cwd) ?? cwd) : null,
    isFolderClaimed: driver === externalDriver && session.options?.folderIsClaimed === true,
    agentPath,
    isEditable,
    now,
    home: machine?.home ?? '',
    files: machine?.files ?? null,
    builtIn: { protectedFolder: ctx.protectedFolder, cwd },
    isUsedUp,
  }
}

/** Brings the stored rules up to date with the files that apply to a session. Does nothing if a runner on another machine drives the session, because the gateway on that machine reads the files there. */
export async function refreshRuleFiles(ctx: Context, session: RuleSession): Promise<void> {
  const { driver, cwd } = session
  if (!ctx.ruleFiles || !ctx.machine) return
  if (driver !== externalDriver && !machineOf(ctx, session)) return
  await ctx.ruleFiles.refresh(isFolderKnown(session) ? existingFolder(ctx.machine, cwd) : null)
}

/** The credential of an agent chose the folder of an external session that no person opened, so neither rules nor files with rules may rely on that folder. */
function isFolderKnown({ driver, cwd, openedBy }: RuleSession): boolean {
  return cwd !== '' && (driver !== externalDriver || openedBy !== null)
}

/** Returns the real path of a folder, or of the nearest folder above it that exists. An agent may claim to run in a folder that does not exist. */
function existingFolder({ files }: AgentMachine, folder: string): string {
  // A folder that is not absolute has no folders above it.
  for (let path = folder; path.startsWith('/'); path = path.slice(0, path.lastIndexOf('/'))) {
    const real = files.realPath(path)
    if (real !== null) return real
  }
  return '/'
}

/** Returns whether a rule has no uses left, or its turn or session has ended. `uses` is how often the rule was used. */
export function isUsedUp(session: RuleSession, rule: Rule, uses: number): boolean {
  if (hasEnded(rule as RuleRow, session)) return true // every rule that the engine evaluates is a row of the store
  return rule.usesLeft !== undefined && uses >= rule.usesLeft
}
function usesOf(change: ChangeBuilder, { id }: Rule): number {
  return change.get('ruleuse', id)?.uses ?? 0
}

export function evaluateCall(
  ctx: Context,
  change: ChangeBuilder,
  session: RuleSession,
  call: ToolCall,
  details: CallDetails,
): Decision {
  const context = ruleContext(ctx, session, details, change.now, rule => isUsedUp(session, rule, usesOf(change, rule)))
  return ctx.rules(change).evaluate(call, context)
}

/** Resolves a pending request if a rule allows or denies it. Rules answer approvals only, never questions or forms. */
export function resolveByRule(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  row: RequestRow,
  drafts: readonly DraftRow[] = [],
): RequestRow {
  const { ask } = row
  if (ask.kind !== 'approval') return row
  const decision = evaluateCall(ctx, change, session, ask, { agentPath: row.agentPath, isEditable: ask.editable })
  if (decision.verdict === 'ask' || !decision.rule) return row
  // A watcher that asks overrides a rule that allows, and no rule speaks for calls that come later.
  if (decision.verdict === 'allow' && (row.watcher || ask.caution?.permanent)) return row
  const [, ...more] = decision.rules
  for (const rule of decision.rules) countUse(change, rule)
  markNeedsRunner(change, row)
  return resolveRequest(
    change,
    row,
    'rule',
    {
      by: 'rule',
      rule: decision.rule,
      ...(decision.ruleVersion === undefined ? {} : { ruleVersion: decision.ruleVersion }),
      ...(more.length > 0 ? { moreRules: more.map(({ id, version }) => ({ rule: id, ruleVersion: version })) } : {}),
      ...answerOf(decision, ask, row.session),
    },
    drafts,
  )
}

/** Resolves a new request that a watcher denies. Questions and forms are declined, and the agent reads the sentence as the reason. */
export function resolveByWatcher(
  change: ChangeBuilder,
  row: RequestRow,
  { reason = '', watcher }: Pick<WatchReply, 'reason' | 'watcher'>,
): RequestRow {
  const kind = row.ask.kind === 'approval' ? 'deny' : 'decline'
  markNeedsRunner(change, row)
  const answer = { kind, reason } as const
  return resolveRequest(change, row, 'rule', { by: 'rule', ...(watcher ? { watcher } : {}), answer }, [])
}

/** Returns whether the rules, as they are now, allow a request that a rule has allowed. The use that was counted for this request does not count against the rule. */
export function isStillAllowed(ctx: Context, change: ChangeBuilder, session: RuleSession, row: RequestRow): boolean {
  const { ask, agentPath, resolution } = row
  if (ask.kind !== 'approval') return false
  const counted = new Set([resolution?.rule, ...(resolution?.moreRules ?? []).map(({ rule }) => rule)])
  const context = ruleContext(ctx, session, { agentPath, isEditable: ask.editable }, change.now, rule =>
    isUsedUp(session, rule, usesOf(change, rule) - (counted.has(rule.id) ? 1 : 0)),
  )
  return ctx.rules(change).evaluate(ask, context).verdict === 'allow'
}

/** Returns the answer of a rule. An allowed command goes back in canonical quoting, so that the agent runs exactly what the rule has read (G7). */
function answerOf(
  { verdict, reason, command }: Decision,
  ask: Extract<Ask, { kind: 'approval' }>,
  session: SessionId,
): { readonly answer: Answer; readonly editedDigest?: string } {
  if (verdict === 'deny') return { answer: { kind: 'deny', reason: `Denied by a rule: ${reason}` } }
  const action = actionOf(ask)
  if (command === undefined || !('shell' in action) || action.shell === command) return { answer: { kind: 'allow' } }
  // The evaluator returns a command in another quoting only if the input has the command in this field.
  const input = { ...ask.input, command }
  return { answer: { kind: 'allow', input }, editedDigest: sha256(digestText(session, editedCall(ask, input))) }
}

function countUse(change: ChangeBuilder, { id }: Rule): void {
  const use = change.get('ruleuse', id)
  change.put('ruleuse', {
    id,
    ord: use?.ord ?? change.nextSeq,
    uses: (use?.uses ?? 0) + 1,
    lastUsedAt: change.now,
  })
}

/** Returns what an approval touches; undefined for questions and forms. */
export function riskIn(ctx: Context, session: RuleSession, ask: Ask): Risk | undefined {
  return ask.kind === 'approval' ? callRisk(ctx, session, ask) : undefined
}

/** Returns what an approval touches with an edited input. */
export function editedRiskIn(ctx: Context, session: RuleSession, ask: ApprovalAsk, input: JsonObject): Risk {
  const edited = editedCall(ask, input)
  const isShown = actionKind(actionOf(edited)) === actionKind(actionOf(ask))
  // An input that no longer shows what the call does could do anything.
  return isShown ? callRisk(ctx, session, edited) : { level: 'dangerous', touches: ['unreadable'] }
}

/** Returns what a call touches. */
export function callRisk(ctx: Context, session: RuleSession, call: ToolCall): Risk {
  const machine = machineOf(ctx, session)
  const folder = machine?.files.realPath(session.cwd) ?? session.cwd
  return riskOf(actionOf(call), { folder, cwd: call.cwd, home: machine?.home ?? '', files: machine?.files ?? null })
}

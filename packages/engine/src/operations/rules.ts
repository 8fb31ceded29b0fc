/** Operations on rules: list, add, change and remove them, and show what they answer or would have answered. */
import {
  type Action,
  actionOf,
  Fault,
  limits,
  type ParsedInput,
  type Rule,
  type RuleDraft,
  type RulePreview,
  type RunnerId,
  type SessionId,
  withFolder,
} from '@holdpoint/protocol'
import { proposeRules as proposalsFor, RuleSet, ruleProblem, validateRule } from '@holdpoint/rules'
import { accessFault, maySee, personIdOf, requestNotFound, ruleAccessFault, sessionNotFound } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, pendingIn } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import { scan } from '../paging.ts'
import type { RequestRow, RuleRow, SessionRow } from '../rows.ts'
import { isUsedUp, type RuleSession, refreshRuleFiles, ruleContext } from '../rule-answers.ts'
import { putRule, takeRule } from '../rule-changes.ts'
import { toRule } from '../wire-views.ts'

function madeBy(caller: Caller): Pick<Rule, 'madeBy' | 'madeById'> {
  return { madeBy: caller.name, madeById: personIdOf(caller) }
}

export async function listRules(ctx: Context) {
  const [rows, uses] = await Promise.all([ctx.store.find('rule', {}), ctx.store.find('ruleuse', {})])
  const useOf = new Map(uses.map(use => [use.id, use]))
  const added = rows.map(row => toRule(row, useOf.get(row.id)))
  return { status: 200, body: { items: [...ctx.builtInRules, ...added], next: null } }
}

/** Rejects if there are too many rules. Concurrent calls may exceed the limit by a few rules, because counting inside the change would make every change of a rule read all of them. */
export async function requireRoomForRule(ctx: Context): Promise<void> {
  if ((await ctx.store.count('rule', {})) >= limits.rulesMax)
    throw new Fault('too_many', `There are ${limits.rulesMax} rules; remove some first`)
}

/** Returns the row of a new rule, or a Fault if its session has ended. The draft must be valid. */
export function newRule(ctx: Context, change: ChangeBuilder, caller: Caller, draft: RuleDraft): RuleRow | Fault {
  const ended = endedSessionFault(change, draft)
  if (ended) return ended
  return { ...draft, id: ctx.newId('rul'), ...madeBy(caller), madeAt: change.now, version: 1, ord: change.nextSeq }
}

function endedSessionFault(change: ChangeBuilder, { until, scope }: RuleDraft): Fault | null {
  if (until === undefined || scope?.session === undefined) return null
  const session = change.get('session', scope.session)
  if (session && session.state !== 'ended') return null
  return new Fault('session_ended', `Session ${scope.session} has ended, so the rule would never answer`, {
    id: scope.session,
  })
}

export async function addRule(ctx: Context, caller: Caller, input: ParsedInput<'addRule'>, options: DispatchOptions) {
  const draft = validateRule(input)
  await requireRoomForRule(ctx)
  return ctx.commit<Rule>(
    {
      label: 'rule',
      reads: [],
      decide: change => {
        const row = newRule(ctx, change, caller, draft)
        if (row instanceof Fault) return row
        putRule(change, row, 'rule.added')
        return { status: 201, body: toRule(row, undefined) }
      },
    },
    { caller, op: 'addRule', input, options },
  )
}

export function patchRule(ctx: Context, caller: Caller, input: ParsedInput<'patchRule'>, options: DispatchOptions) {
  refuseBuiltIn(ctx, input.id, 'changed')
  const { id, version, paused, rule: draft } = input
  if (draft) validateRule(draft)
  return ctx.commit<Rule>(
    {
      label: 'rule',
      reads: [
        { table: 'rule', id },
        { table: 'ruleuse', id },
      ],
      decide: change => {
        const before = change.get('rule', id)
        if (!before) return ruleNotFound(id)
        if (before.source) return ruleOfFile(before, before.source.file)
        const isResumed = paused === false && !draft && before.effect === 'allow'
        const denied = ruleAccessFault(caller, before) ?? (isResumed ? accessFault(caller, 'rule.allow') : null)
        if (denied) return denied
        if (version !== undefined && version !== before.version)
          return new Fault(
            'version_conflict',
            `Rule ${id} has version ${before.version} by now; read it again before you change it`,
            { id, version: before.version },
          )
        const row = changedRule(change, before, draft, paused)
        if (row instanceof Fault) return row
        putRule(change, row, 'rule.changed')
        return { status: 200, body: toRule(row, change.get('ruleuse', id)) }
      },
    },
    { caller, op: 'patchRule', input, options },
  )
}

/** Returns the rule with its new content. If the content has a number of uses, earlier uses do not count towards it. */
function changedRule(
  change: ChangeBuilder,
  before: RuleRow,
  draft: RuleDraft | undefined,
  paused: boolean | undefined,
): RuleRow | Fault {
  const { id, ord, madeBy, madeById, madeAt, version } = before
  const made = { id, ord, madeBy, ...(madeById === undefined ? {} : { madeById }), madeAt, version: version + 1 }
  const uses = change.get('ruleuse', id)?.uses ?? 0
  const { paused: pausedBefore, ...content } = draft
    ? { ...draft, ...(draft.usesLeft === undefined ? {} : { usesLeft: draft.usesLeft + uses }) }
    : before
  const ended = draft ? endedSessionFault(change, draft) : null
  if (ended) return ended
  const isPaused = paused ?? pausedBefore ?? false
  // A rule that ends with a turn or session ends with the first end after this change, so the rule gets the position of the change.
  return {
    ...content,
    ...made,
    ...(draft?.until ? { ord: change.nextSeq } : {}),
    ...(isPaused ? { paused: true } : {}),
  }
}

function refuseBuiltIn(ctx: Context, id: string, what: 'changed' | 'removed'): void {
  if (ctx.builtInRules.some(rule => rule.id === id))
    throw new Fault('forbidden', `Rule ${id} is built in and cannot be ${what}`, { id })
}
function ruleNotFound(id: string): Fault {
  return new Fault('not_found', `There is no rule ${id}`, { id })
}

function ruleOfFile({ id }: RuleRow, file: string): Fault {
  return new Fault('forbidden', `Rule ${id} comes from a file. Change it there: ${file}`, { id, file })
}
/** Returns whether a running gateway reads the files with rules on the machine of this runner. If none does, a person may remove the rules of these files through this gateway. */
function isFileInUse(ctx: Context, change: ChangeBuilder, runner: RunnerId): boolean {
  if (runner === ctx.machine?.runner) return true
  return (change.get('runner', runner)?.expiresAt ?? 0) > change.now
}

export function removeRule(ctx: Context, caller: Caller, input: ParsedInput<'removeRule'>, options: DispatchOptions) {
  refuseBuiltIn(ctx, input.id, 'removed')
  return ctx.commit<Record<string, never>>(
    {
      label: 'rule',
      reads: [
        { table: 'rule', id: input.id },
        { table: 'ruleuse', id: input.id },
      ],
      decide: change => {
        const rule = change.get('rule', input.id)
        if (!rule) return ruleNotFound(input.id)
        if (rule.source && isFileInUse(ctx, change, rule.source.runner)) return ruleOfFile(rule, rule.source.file)
        const denied = ruleAccessFault(caller, rule)
        if (denied) return denied
        takeRule(change, input.id)
        return { status: 200, body: {} }
      },
    },
    { caller, op: 'removeRule', input, options },
  )
}

export async function checkRules(ctx: Context, caller: Caller, input: ParsedInput<'checkRules'>) {
  const stored = input.session === undefined ? undefined : await visibleSession(ctx, caller, input.session)
  const ask = withFolder(input.ask, stored?.cwd ?? input.cwd ?? '')
  if (ask.kind !== 'approval')
    return {
      status: 200,
      body: { verdict: 'ask' as const, reason: 'Rules only answer approvals; a person has to answer this.' },
    }
  const session = stored ?? assumedSession(caller, input.driver ?? '', input.cwd ?? ask.cwd)
  if (!input.rules) await refreshRuleFiles(ctx, session)
  const now = await ctx.store.now()
  const problem = input.rules?.map(ruleProblem).find(found => found !== null)
  const rules = input.rules ? draftRules(ctx, caller, input.rules, now) : await ctx.currentRules()
  const details = { agentPath: input.agentPath ?? [], isEditable: ask.editable }
  const uses = new Map(input.rules ? [] : (await ctx.store.find('ruleuse', {})).map(use => [use.id, use.uses]))
  const { rules: _rules, ...verdict } = rules.evaluate(
    ask,
    ruleContext(ctx, session, details, now, rule => !input.rules && isUsedUp(session, rule, uses.get(rule.id) ?? 0)),
  )
  if (!input.rules) return { status: 200, body: verdict }
  // Draft rules are not stored, so their ids mean nothing to the caller.
  const { rule: _rule, ruleVersion: _version, ...withoutRule } = verdict
  const isBuiltIn = ctx.builtInRules.some(({ id }) => id === verdict.rule)
  if (isBuiltIn) return { status: 200, body: verdict }
  return { status: 200, body: problem && verdict.verdict === 'ask' ? { ...withoutRule, reason: problem } : withoutRule }
}

async function visibleSession(ctx: Context, caller: Caller, id: SessionId): Promise<SessionRow> {
  const session = await ctx.store.get('session', id)
  if (!session || !maySee(caller, session)) throw sessionNotFound(id, caller)
  return session
}

/** Returns a session as if a person had opened it in the folder of the ask. */
function assumedSession(caller: Caller, driver: string, cwd: string): RuleSession {
  const openedBy = { id: personIdOf(caller), name: caller.name }
  return { id: null, driver, cwd, openedBy, lease: null, runner: null }
}

/** Arranges draft rules that can be used. A draft that cannot be used matches nothing. */
function draftRules(ctx: Context, caller: Caller, drafts: readonly RuleDraft[], now: number): RuleSet {
  const usable = drafts.filter(draft => ruleProblem(draft) === null)
  return new RuleSet(
    usable.map(draft => ({ ...draft, id: ctx.newId('rul'), ...madeBy(caller), madeAt: now, version: 0 })),
  )
}

export async function proposeRules(ctx: Context, caller: Caller, input: ParsedInput<'proposeRules'>) {
  const request = await ctx.store.get('request', input.id)
  if (!request) throw requestNotFound(input.id)
  const session = await ctx.store.get('session', request.session)
  const { ask } = request
  if (ask.kind !== 'approval' || !session)
    return { status: 200, body: { items: [], reason: 'Rules only answer approvals.' } }
  if (ask.caution?.noRemember)
    return { status: 200, body: { items: [], reason: 'The agent’s program forbids remembering this answer.' } }
  if (accessFault(caller, 'rule.allow'))
    return {
      status: 200,
      body: { items: [], reason: 'Only the owner of this gateway can add a rule that allows something.' },
    }
  const details = { agentPath: request.agentPath, isEditable: ask.editable }
  const context = ruleContext(ctx, session, details, await ctx.store.now(), () => false)
  const { items, reason } = proposalsFor(ask, context)
  return { status: 200, body: { items, ...(items.length === 0 ? { reason } : {}) } }
}

const examplesMax = 5

export async function previewRule(ctx: Context, caller: Caller, { rule }: ParsedInput<'previewRule'>) {
  const now = await ctx.store.now()
  const { usesLeft: _uses, until: _until, expiresAt: _expires, paused: _paused, ...draft } = rule
  validateRule(draft)
  const rules = draftRules(ctx, caller, [draft], now)
  const sessions = new Map<string, SessionRow | undefined>()
  const isMatch = async ({ ask, agentPath, session: id }: RequestRow): Promise<boolean> => {
    if (ask.kind !== 'approval') return false
    if (!sessions.has(id)) sessions.set(id, await ctx.store.get('session', id))
    const session: RuleSession | undefined = sessions.get(id)
    if (!session) return false
    const decision = rules.evaluate(
      ask,
      ruleContext(ctx, session, { agentPath, isEditable: true }, now, () => false),
    )
    return decision.rules.length > 0
  }
  const past = await pastMatches(ctx, caller, isMatch)
  return { status: 200, body: { ...past, ...(await pendingMatches(ctx, isMatch)) } }
}

async function pendingMatches(
  ctx: Context,
  isMatch: (row: RequestRow) => Promise<boolean>,
): Promise<Pick<RulePreview, 'pending' | 'pendingComplete'>> {
  const pending: RequestRow['id'][] = []
  let compared = 0
  for await (const row of scan(ctx, 'request', { where: pendingIn(), newestFirst: true })) {
    if (compared++ === limits.previewRequestsMax) return { pending, pendingComplete: false }
    if (await isMatch(row)) pending.push(row.id)
  }
  return { pending, pendingComplete: true }
}

async function pastMatches(
  ctx: Context,
  caller: Caller,
  isMatch: (row: RequestRow) => Promise<boolean>,
): Promise<Omit<RulePreview, 'pending' | 'pendingComplete'>> {
  const matched: PastMatch[] = []
  let since: number | null = null
  let compared = 0
  for await (const row of scan(ctx, 'request', { where: { status: 'resolved' }, newestFirst: true })) {
    if (compared === limits.previewRequestsMax) break
    compared++
    since = row.resolution?.at ?? since
    if (await isMatch(row)) matched.push(pastMatch(row, caller))
  }
  const countOf = (answer: 'allow' | 'deny') => matched.filter(({ example }) => example.answer === answer).length
  const countByYou = (answer: 'allow' | 'deny') =>
    matched.filter(({ example, isByCaller }) => isByCaller && example.answer === answer).length
  const examples = matched.map(({ example }) => example)
  const denied = examples.filter(({ answer }) => answer === 'deny')
  const others = examples.filter(({ answer }) => answer !== 'deny')
  return {
    matched: matched.length,
    allowed: countOf('allow'),
    denied: countOf('deny'),
    allowedByYou: countByYou('allow'),
    deniedByYou: countByYou('deny'),
    since,
    complete: compared < limits.previewRequestsMax,
    examples: [...denied, ...others].slice(0, examplesMax),
  }
}

interface PastMatch {
  readonly example: RulePreview['examples'][number]
  readonly isByCaller: boolean
}

function pastMatch({ id, ask, resolution, openedAt }: RequestRow, caller: Caller): PastMatch {
  const answer = resolution?.by === 'person' ? resolution.answer : undefined
  // A person who changed the input has not allowed what the agent asked.
  const kind = answer?.kind === 'allow' && answer.input ? undefined : answer?.kind
  return {
    isByCaller: resolution?.personId === caller.id,
    example: {
      request: id,
      what: ask.kind === 'approval' ? actionText(actionOf(ask)) : '',
      answer: kind === 'allow' || kind === 'deny' ? kind : null,
      at: resolution?.at ?? openedAt,
    },
  }
}

function actionText(action: Action): string {
  if ('shell' in action) return action.shell
  if ('write' in action) return action.write.join(', ')
  if ('read' in action) return action.read.join(', ')
  if ('fetch' in action) return action.fetch
  return 'mcp' in action ? `${action.mcp} ${action.tool}` : action.other
}

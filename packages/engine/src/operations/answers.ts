/** Operations that answer one or several requests, each of them once. */
import {
  type Answer,
  answerActions,
  answerProblem,
  canonicalJson,
  digestText,
  editedCall,
  Fault,
  limits,
  type ParsedInput,
  type Request,
  type RequestId,
  type Resolution,
} from '@holdpoint/protocol'
import { RuleSet, validateRule } from '@holdpoint/rules'
import { noteAskedBack } from '../asked-back.ts'
import { accessFault, personIdOf, requestNotFound } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, sha256 } from '../context.ts'
import type { Caller, DispatchOptions, OperationResult } from '../gateway.ts'
import { jsonBytes } from '../paging.ts'
import { attemptBy } from '../refused-attempts.ts'
import {
  draftsFor,
  expireIfDue,
  markNeedsRunner,
  requestTransitionFor,
  resolveRequest,
} from '../request-transitions.ts'
import type { RequestRow } from '../rows.ts'
import { editedRiskIn, evaluateCall, type RuleSession, ruleContext } from '../rule-answers.ts'
import { putRule } from '../rule-changes.ts'
import { type PreparedAnswer, prepareAnswer, releaseUnused } from '../secrets.ts'
import type { Read } from '../store.ts'
import { accountOf, usageReads } from '../usage.ts'
import { applyToWatchers } from '../watch/stop-requests.ts'
import { toRequest } from '../wire-views.ts'
import { newRule, requireRoomForRule } from './rules.ts'
import { modeProblem, runnersRead } from './runners.ts'

type AnswerItem = ParsedInput<'answerRequests'>['items'][number]

/** Thrown inside `decide` if the request got an answer with secrets after this answer was prepared, so that the two cannot be compared yet. */
class StaleAnswer extends Error {}

function hasSameSecrets({ prepared }: PreparedItem, row: RequestRow | undefined): boolean {
  const same = prepared.equalsSecrets(row?.sealed)
  if (same === undefined) throw new StaleAnswer()
  return same
}

function decideAnswer(ctx: Context, change: ChangeBuilder, caller: Caller, item: PreparedItem): RequestRow | Fault {
  const found = change.get('request', item.id)
  if (!found) return requestNotFound(item.id)
  const drafts = change.find('draft', draftsFor(item.id).query)
  const row = expireIfDue(change, found, drafts)
  if (requestTransitionFor(row, 'answer') === 'alreadyResolved') {
    const { resolution } = row
    if (
      resolution?.by === 'person' &&
      resolution.personId === caller.id &&
      resolution.answer &&
      canonicalJson(resolution.answer) === canonicalJson(item.prepared.masked) &&
      hasSameSecrets(item, row)
    )
      return item.digest === row.digest ? row : digestMismatch(row)
    return new Fault('already_resolved', `Request ${item.id} was already resolved by ${resolvedBy(row)}`, {
      request: toRequest(row),
    })
  }
  if (item.digest !== row.digest) return digestMismatch(row)
  const problem = answerProblem(row.ask, item.answer) ?? newModeProblem(change, row, item.answer)
  if (problem)
    return new Fault('answer_mismatch', `The answer does not fit request ${item.id}: ${problem}`, { id: item.id })
  for (const action of answerActions(row.ask, item.answer)) {
    const denied = accessFault(caller, action)
    if (denied) return denied
  }
  const edited = editedInput(ctx, change, row, item.answer)
  if (edited instanceof Fault) return edited
  const remembered = rememberRule(ctx, change, caller, row, item.answer)
  if (remembered instanceof Fault) return remembered
  markNeedsRunner(change, row)
  noteAskedBack(change, row, item.answer)
  const who = { person: caller.name, personId: personIdOf(caller), via: caller.via }
  const resolution = { by: 'person' as const, ...who, answer: item.prepared.masked }
  const resolved = resolveRequest(change, row, 'answer', { ...resolution, ...edited }, drafts, item.prepared.sealed)
  applyToWatchers(ctx, change, row, item.answer)
  return resolved
}

/** Adds the rule that an allow asks to remember. The rule must allow the request itself, so that it says what the person has seen. */
function rememberRule(
  ctx: Context,
  change: ChangeBuilder,
  caller: Caller,
  row: RequestRow,
  answer: Answer,
): Fault | null {
  if (answer.kind !== 'allow' || !answer.remember || row.ask.kind !== 'approval') return null
  if (answer.remember.effect !== 'allow')
    return new Fault('answer_mismatch', 'An allow can only remember a rule that allows', { id: row.id })
  const session = change.get('session', row.session) ?? sessionOf(row)
  const call = answer.input ? editedCall(row.ask, answer.input) : row.ask
  const rule = newRule(ctx, change, caller, answer.remember)
  if (rule instanceof Fault) return rule
  const details = { agentPath: row.agentPath, isEditable: row.ask.editable }
  // A new rule has no uses yet. Looking them up would not end, because each attempt to decide gives the rule another id.
  const context = ruleContext(ctx, session, details, change.now, () => false)
  const { verdict, reason } = new RuleSet([rule]).evaluate(call, context)
  if (verdict !== 'allow')
    return new Fault('answer_mismatch', `The rule to remember does not cover request ${row.id}: ${reason}`, {
      id: row.id,
    })
  putRule(change, rule, 'rule.added')
  return null
}

function newModeProblem(change: ChangeBuilder, row: RequestRow, answer: Answer): string | null {
  const session = change.get('session', row.session)
  return session && answer.kind === 'allow' ? modeProblem(change, session, answer.mode) : null
}

function digestMismatch({ id, digest }: RequestRow): Fault {
  return new Fault(
    'digest_mismatch',
    `Request ${id} has digest ${digest}, not the one you sent. Read the request again before you answer`,
    {
      digest,
    },
  )
}

function resolvedBy({ resolution }: RequestRow): string {
  if (resolution?.by === 'person') return resolution.person ?? 'a person'
  if (resolution?.watcher) return `watcher ${resolution.watcher.name}`
  return resolution?.by === 'rule'
    ? `rule ${resolution.rule}`
    : resolution?.by === 'deadline'
      ? 'its deadline'
      : 'the agent'
}

/** Returns the digest of an edited input (G7) and what it touches, for the audit log; a Fault if a rule denies that input, or null if nothing was edited. */
function editedInput(
  ctx: Context,
  change: ChangeBuilder,
  row: RequestRow,
  answer: Answer,
): Required<Pick<Resolution, 'editedDigest' | 'editedRisk'>> | null | Fault {
  if (answer.kind !== 'allow' || !answer.input || row.ask.kind !== 'approval') return null
  const ask = editedCall(row.ask, answer.input)
  const session = change.get('session', row.session) ?? sessionOf(row)
  const verdict = evaluateCall(ctx, change, session, ask, { agentPath: row.agentPath, isEditable: true })
  if (verdict.verdict === 'deny')
    return new Fault('answer_mismatch', `The edited input is denied by rule ${verdict.rule}: ${verdict.reason}`, {
      id: row.id,
    })
  return {
    editedDigest: sha256(digestText(row.session, ask)),
    editedRisk: editedRiskIn(ctx, session, row.ask, answer.input),
  }
}

export async function checkInput(ctx: Context, _caller: Caller, { id, input }: ParsedInput<'checkInput'>) {
  const row = await ctx.store.get('request', id)
  if (!row) throw requestNotFound(id)
  if (row.ask.kind !== 'approval')
    throw new Fault('answer_mismatch', `Request ${id} is not an approval, so it has no input to edit`, { id })
  const session = (await ctx.store.get('session', row.session)) ?? sessionOf(row)
  return { status: 200, body: { risk: editedRiskIn(ctx, session, row.ask, input) } }
}

/** Returns the facts about the session of a request that rules use if the session no longer exists. */
function sessionOf({ session, ask }: RequestRow): RuleSession {
  return {
    id: session,
    driver: '',
    cwd: ask.kind === 'approval' ? ask.cwd : '',
    openedBy: null,
    lease: null,
    runner: null,
  }
}

/** An answer to a request that exists, with its secrets encrypted. */
interface PreparedItem extends AnswerItem {
  readonly prepared: PreparedAnswer
}

/** Prepares an answer and commits it. Prepares it again if the request got another answer meanwhile with whose secrets it must be compared. */
async function commitAnswer<T>(
  ctx: Context,
  input: AnswerItem,
  commit: (prepared: { readonly reads: readonly Read[]; readonly item: PreparedItem }) => Promise<OperationResult<T>>,
): Promise<OperationResult<T>> {
  for (;;) {
    const row = await ctx.store.get('request', input.id)
    if (!row) throw requestNotFound(input.id)
    const { answer } = input
    const reads: readonly Read[] = [
      { table: 'request', id: row.id },
      draftsFor(row.id),
      { table: 'session', id: row.session },
      ...usageReads(row.session, accountOf(row)),
      ...(answer.kind === 'allow' && answer.mode !== undefined ? [runnersRead] : []),
    ]
    const prepared = await prepareAnswer(ctx, row, answer)
    try {
      return await commit({ reads, item: { id: row.id, digest: input.digest, answer, prepared } })
    } catch (error) {
      if (!(error instanceof StaleAnswer)) throw error
    } finally {
      await releaseUnused(ctx, prepared)
    }
  }
}

/** Returns the item without secrets. Calls with the same idempotency key are compared by this. */
function maskedItem({ id, digest, prepared }: PreparedItem): AnswerItem {
  return { id, digest, answer: prepared.masked }
}

/** Checks the rule that an answer adds, before anything is decided. */
async function checkRemember(ctx: Context, answer: Answer): Promise<void> {
  if (answer.kind !== 'allow' || !answer.remember) return
  validateRule(answer.remember)
  await requireRoomForRule(ctx)
}

export async function answerRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'answerRequest'>,
  options: DispatchOptions,
) {
  await checkRemember(ctx, input.answer)
  return answerOne(ctx, caller, 'answerRequest', input, options)
}

function answerOne(ctx: Context, caller: Caller, op: string, input: AnswerItem, options: DispatchOptions) {
  return commitAnswer(ctx, input, ({ reads, item }) =>
    ctx.commit<Request>(
      {
        label: 'answer',
        reads,
        hasSameSecrets: change => hasSameSecrets(item, change.get('request', item.id)),
        decide: change => {
          const row = decideAnswer(ctx, change, caller, item)
          return row instanceof Fault ? row : { status: 200, body: toRequest(row) }
        },
      },
      { caller, op, input: maskedItem(item), options },
    ),
  )
}

/** How many answers of one call are decided at the same time. */
const answersAtOnce = 16

type AnswerResult = { readonly id: RequestId; readonly status: number } & (
  | { readonly request?: Request }
  | ReturnType<Fault['toJSON']>
)

/** Answers several requests, each in a change of its own, because a single change with many large requests would block all other work. A failing item does not affect the others. */
export async function answerRequests(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'answerRequests'>,
  options: DispatchOptions,
) {
  for (const item of input.items) await checkRemember(ctx, item.answer)
  // Refuse an idempotency key that was used for other requests. Each answer is compared again in its own change.
  await ctx.commit(
    { label: 'answerRequests', reads: [], decide: () => ({ status: 200, body: null }) },
    { caller, op: 'answerRequests', input: input.items.map(({ id, digest }) => [id, digest]), options },
  )
  const items: AnswerResult[] = []
  let bytes = 0
  for (const group of groupsOf(input.items)) {
    const results = group.map(({ item, index }) => answerResult(ctx, caller, item, index, options))
    for (const result of await Promise.all(results)) {
      bytes += jsonBytes(result)
      items.push(bytes > limits.pageMaxBytes ? withoutRequest(result) : result)
    }
  }
  return { status: 200, body: { items } }
}

async function answerResult(
  ctx: Context,
  caller: Caller,
  item: AnswerItem,
  index: number,
  options: DispatchOptions,
): Promise<AnswerResult> {
  try {
    const { status, body } = await answerOne(ctx, caller, `answerRequests ${index}`, item, options)
    return { id: item.id, status, request: body }
  } catch (error) {
    if (!(error instanceof Fault) || error.status === 401 || error.status >= 500) throw error
    if (error.code === 'forbidden')
      await ctx.refusedAttempts.record({
        what: 'answerRequests',
        code: error.code,
        ...attemptBy(caller),
        request: item.id,
      })
    return { id: item.id, status: error.status, ...error.toJSON() }
  }
}

/** Splits the answers of one call, in order. Answers to the same request are in different groups, so that the first one wins. */
function groupsOf(items: readonly AnswerItem[]): { readonly item: AnswerItem; readonly index: number }[][] {
  const groups: { item: AnswerItem; index: number }[][] = []
  let ids = new Set<RequestId>()
  for (const [index, item] of items.entries()) {
    const last = groups.at(-1)
    if (last && last.length < answersAtOnce && !ids.has(item.id)) last.push({ item, index })
    else {
      groups.push([{ item, index }])
      ids = new Set()
    }
    ids.add(item.id)
  }
  return groups
}

function withoutRequest(result: AnswerResult): AnswerResult {
  const { id, status } = result
  if (!('error' in result)) return { id, status }
  const { code, message } = result.error
  return { id, status, error: { code, message } }
}

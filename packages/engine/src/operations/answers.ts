/** Operations that answer requests, one or several, each once. */
import {
  type Answer,
  answerProblem,
  canonicalJson,
  digestText,
  Fault,
  type ParsedInput,
  type Request,
  type RequestId,
} from '@holdpoint/protocol'
import { evaluateRules } from '@holdpoint/rules'
import { personIdOf, requestNotFound } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, sha256 } from '../context.ts'
import type { Caller, DispatchOptions, OperationResult } from '../gateway.ts'
import {
  draftsFor,
  expireIfDue,
  markNeedsRunner,
  requestTransitionFor,
  resolveRequest,
} from '../request-transitions.ts'
import type { RequestRow } from '../rows.ts'
import { type PreparedAnswer, prepareAnswer, releaseUnused } from '../secrets.ts'
import type { Read } from '../store.ts'
import { accountOf, usageReads } from '../usage.ts'
import { toRequest } from '../wire-views.ts'
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
  const edited = editedDigest(ctx, change, row, item.answer)
  if (edited instanceof Fault) return edited
  markNeedsRunner(change, row.session)
  const who = { person: caller.name, personId: personIdOf(caller), via: caller.via }
  const resolution = { by: 'person' as const, ...who, answer: item.prepared.masked }
  return resolveRequest(
    change,
    row,
    'answer',
    edited === null ? resolution : { ...resolution, editedDigest: edited },
    drafts,
    item.prepared.sealed,
  )
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
  return resolution?.by === 'rule'
    ? `rule ${resolution.rule}`
    : resolution?.by === 'deadline'
      ? 'its deadline'
      : 'the agent'
}

/** Returns the digest of an edited input for the audit log (G7), a Fault if a rule denies that input, or null if nothing was edited. */
function editedDigest(ctx: Context, change: ChangeBuilder, row: RequestRow, answer: Answer): string | null | Fault {
  if (answer.kind !== 'allow' || !answer.input || row.ask.kind !== 'approval') return null
  const ask = { ...row.ask, input: answer.input }
  const session = change.get('session', row.session) ?? { id: row.session, driver: '', cwd: row.ask.cwd }
  const verdict = evaluateRules(ctx.rules(change), ask, ctx.ruleContext(session, change.now))
  if (verdict.verdict === 'deny')
    return new Fault('answer_mismatch', `The edited input is denied by rule ${verdict.rule}: ${verdict.reason}`, {
      id: row.id,
    })
  return sha256(digestText(row.session, ask))
}

/** An answer to a request that exists, with its secrets encrypted. */
type PreparedItem = AnswerItem & { readonly prepared: PreparedAnswer }
interface PreparedAnswers {
  readonly reads: readonly Read[]
  readonly items: readonly (PreparedItem | (AnswerItem & { readonly prepared: null }))[]
}

/** Resolves with the reads for answering requests, and the prepared answers. A request that does not exist yet counts as not found even if it is opened before the answer is decided, because the reads do not include it. */
async function prepareAnswers(ctx: Context, items: readonly AnswerItem[]): Promise<PreparedAnswers> {
  const choosesMode = items.some(({ answer }) => answer.kind === 'allow' && answer.mode !== undefined)
  const reads: Read[] = choosesMode ? [runnersRead] : []
  const rows = new Map<RequestId, RequestRow>()
  for (const id of new Set(items.map(item => item.id))) {
    const row = await ctx.store.get('request', id)
    if (!row) continue
    const usage = usageReads(row.session, accountOf(row))
    reads.push({ table: 'request', id }, draftsFor(id), { table: 'session', id: row.session }, ...usage)
    rows.set(id, row)
  }
  const prepared = items.map(async item => {
    const row = rows.get(item.id)
    return { ...item, prepared: row ? await prepareAnswer(ctx, row, item.answer) : null }
  })
  return { reads, items: await Promise.all(prepared) }
}

/** Prepares answers and commits them. Prepares them again if a request got another answer meanwhile with whose secrets they must be compared. */
async function commitAnswers<T>(
  ctx: Context,
  items: readonly AnswerItem[],
  commit: (prepared: PreparedAnswers) => Promise<OperationResult<T>>,
): Promise<OperationResult<T>> {
  for (;;) {
    const prepared = await prepareAnswers(ctx, items)
    try {
      return await commit(prepared)
    } catch (error) {
      if (!(error instanceof StaleAnswer)) throw error
    } finally {
      await releaseUnused(
        ctx,
        prepared.items.flatMap(item => item.prepared ?? []),
      )
    }
  }
}

/** Returns the item as the idempotency key is compared with it: without secrets. */
function maskedItem({ prepared, ...item }: PreparedAnswers['items'][number]): AnswerItem {
  return { ...item, answer: prepared ? prepared.masked : item.answer }
}

function refuseRemember(answer: Answer): void {
  if (answer.kind === 'allow' && answer.remember)
    throw new Fault('unsupported', 'remember is not supported yet; add the rule first, then answer')
}

export async function answerRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'answerRequest'>,
  options: DispatchOptions,
) {
  refuseRemember(input.answer)
  return commitAnswers(ctx, [input], ({ reads, items: [item] }) => {
    if (!item?.prepared) throw requestNotFound(input.id)
    return ctx.commit<Request>(
      {
        label: 'answer',
        reads,
        hasSameSecrets: change => hasSameSecrets(item, change.get('request', item.id)),
        decide: change => {
          const row = decideAnswer(ctx, change, caller, item)
          return row instanceof Fault ? row : { status: 200, body: toRequest(row) }
        },
      },
      { caller, op: 'answerRequest', input: maskedItem(item), options },
    )
  })
}

/** Answers several requests in one change, with one result per item; a failing item does not affect the others. */
export async function answerRequests(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'answerRequests'>,
  options: DispatchOptions,
) {
  for (const item of input.items) refuseRemember(item.answer)
  return commitAnswers(ctx, input.items, ({ reads, items }) => {
    const found = items.filter(item => item.prepared !== null)
    return ctx.commit(
      {
        label: 'answer',
        reads,
        hasSameSecrets: change => found.every(item => hasSameSecrets(item, change.get('request', item.id))),
        decide: change => {
          const results = items.map(item => {
            const row = item.prepared ? decideAnswer(ctx, change, caller, item) : requestNotFound(item.id)
            return row instanceof Fault
              ? { id: item.id, status: row.status, ...row.toJSON() }
              : { id: item.id, status: 200, request: toRequest(row) }
          })
          return { status: 200, body: { items: results } }
        },
      },
      { caller, op: 'answerRequests', input: { items: items.map(maskedItem) }, options },
    )
  })
}

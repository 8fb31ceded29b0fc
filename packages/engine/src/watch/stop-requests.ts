/** What happens when the agent ends its turn and a watcher objects: the agent is sent back to work, or the gateway asks people in a request of its own whether it may stop. */
import { createHash } from 'node:crypto'
import {
  type Answer,
  digestText,
  formatId,
  isGatewayRequest,
  limits,
  type QuestionsAsk,
  requestIdText,
  type SessionId,
  type WatcherRef,
  watchKeyPrefix,
} from '@holdpoint/protocol'
import { externalDriver } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import { addCommand } from '../commands.ts'
import { type Context, sha256 } from '../context.ts'
import { jsonBytes } from '../paging.ts'
import { draftsFor, resolveByAgent } from '../request-transitions.ts'
import type { RequestRow, SessionRow, WatchReply } from '../rows.ts'
import { accountOf, putRequest } from '../usage.ts'
import { toRequest } from '../wire-views.ts'
import { watchTexts } from './texts.ts'
import { evaluateOnce, watchersOf } from './watch-passes.ts'
import { WatchState } from './watch-state.ts'

/** How often in a row the agent is sent back to work before people are asked. */
const sentBackMax = 3

/** Evaluates the end of a turn. Returns the text that sends the agent back to work, or null if it may stop for now. */
export function evaluateStop(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  key: string,
): { readonly text: string; readonly watcher: WatcherRef | null; readonly reply: WatchReply } | null {
  const watchers = watchersOf(ctx, change, session)
  if (!watchers) return null
  const state = WatchState.of(change, session.id)
  const known = state.reply(`stop ${key}`)
  const reply = known ?? evaluateOnce(ctx, change, session, watchers, state, { moment: 'stop', key })
  const { verdict, watcher = null } = reply
  const text = sentBackText(reply)
  if (text === '') {
    if (!known) state.update({ sentBack: 0 })
    return null
  }
  if (known) return known.verdict === 'ask' ? null : { text, watcher, reply }
  const { sentBack } = state.row
  if (verdict === 'ask' || sentBack >= sentBackMax) {
    // A repeated report of this moment must not send the agent back, because people decide.
    const asked = state.putReply({ ...reply, verdict: 'ask', reason: text, say: [] })
    const question = verdict === 'ask' ? watchTexts.asks(text) : watchTexts.sentBackOften(sentBack, text)
    askWhetherToStop(change, session, state, { question, text, watcher: asked.watcher ?? null })
    return null
  }
  state.update({ sentBack: sentBack + 1 })
  return { text, watcher, reply }
}

export function sentBackText({ say, reason }: WatchReply): string {
  return [...say, ...(reason === undefined ? [] : [reason])].join('\n\n')
}

/** Returns whether the gateway can give messages to the agent. An external agent, such as one in a person's own terminal, may never look for messages. */
export function getsMessages({ driver, capabilities }: SessionRow): boolean {
  return driver !== externalDriver && capabilities.includes('messages')
}

/** Gives the agent a message of the gateway that sends it back to work. Watchers do not see this message. */
export function sendBack(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  { text, watcher }: { readonly text: string; readonly watcher: WatcherRef | null },
): void {
  const state = WatchState.of(change, session.id)
  if (!getsMessages(session)) {
    // The agent reads the text at its next moment instead.
    state.keepTexts([text])
    return
  }
  const body = { kind: 'message', text: [...state.takeTexts(), text].join('\n\n') } as const
  const { command } = addCommand(ctx, change, { madeBy: watchTexts.madeBy(watcher?.name ?? '') }, session, body)
  state.putReply({ key: `prompt ${command.id}`, say: [] })
}

function askWhetherToStop(
  change: ChangeBuilder,
  session: SessionRow,
  state: WatchState,
  { question, text, watcher }: { question: string; text: string; watcher: WatcherRef | null },
): void {
  withdrawStopRequest(change, state)
  const key = `${watchKeyPrefix}stop:${change.nextSeq}`
  const ask = stopQuestion(question.slice(0, limits.reasonMax).toWellFormed())
  const row: RequestRow = {
    id: formatId('req', createHash('sha256').update(requestIdText(session.id, key)).digest()),
    session: session.id,
    key,
    agentPath: [],
    ask,
    digest: sha256(digestText(session.id, ask)),
    openedAt: change.now,
    deadlineAt: session.deadlineMs === null ? null : change.now + session.deadlineMs,
    onDeadline: session.onDeadline,
    overdue: false,
    status: 'pending',
    needs: 1,
    endorsements: [],
    ...(watcher ? { watcher: { ...watcher, text } } : {}),
    resolution: null,
    delivery: { state: 'waiting', at: change.now },
    ord: change.nextSeq,
    handedFence: null,
    account: accountOf(session),
    bytes: jsonBytes(ask),
    sendBack: text,
  }
  putRequest(change, undefined, row)
  change.event(session.id, { type: 'request.opened', value: toRequest(row) })
  state.update({ stopRequest: row.id })
}

function stopQuestion(question: string): QuestionsAsk {
  const options = [watchTexts.letStop, watchTexts.sendBack].map(label => ({ label }))
  const common = { multiSelect: false, allowOther: false, secret: false }
  return {
    kind: 'questions',
    questions: [{ id: 'stop', header: watchTexts.stopHeader, question, options, ...common }],
  }
}

/** Applies a person's answer: one to a request of the gateway, or an allow that raises limits. */
export function applyToWatchers(ctx: Context, change: ChangeBuilder, request: RequestRow, answer: Answer): void {
  if (answer.kind === 'allow')
    for (const { file: id, watcher, upTo } of request.limits ?? []) {
      const state = WatchState.of(change, request.session)
      const { allowedUpTo = 0, allowedAt = 0 } = state.firings({ id }, watcher) ?? {}
      // A person may have raised the limit while the request was pending.
      state.allowUpTo({ id }, watcher, allowedAt >= request.openedAt ? Math.max(upTo, allowedUpTo) : upTo)
    }
  if (isGatewayRequest(request)) applyStopAnswer(ctx, change, request, answer)
}

function applyStopAnswer(ctx: Context, change: ChangeBuilder, request: RequestRow, answer: Answer): void {
  const [chosen] = answer.kind === 'answers' ? answer.answers : []
  const session = change.get('session', request.session)
  if (!chosen?.chosen.includes(watchTexts.sendBack) || request.sendBack === undefined || !session) return
  sendBack(ctx, change, session, { text: request.sendBack, watcher: request.watcher ?? null })
}

/** A message of a person gives the agent new work: the count starts again, and nobody needs to decide whether the agent may stop. */
export function beginPersonMessage(change: ChangeBuilder, session: SessionId): void {
  const state = WatchState.stored(change, session)
  if (!state) return
  withdrawStopRequest(change, state)
  if (state.row.sentBack > 0) state.update({ sentBack: 0 })
}

function withdrawStopRequest(change: ChangeBuilder, state: WatchState): void {
  const { stopRequest } = state.row
  if (stopRequest === null) return
  state.update({ stopRequest: null })
  const request = change.get('request', stopRequest)
  if (request?.status !== 'pending') return
  resolveByAgent(change, [request], 'withdraw', change.find('draft', draftsFor(stopRequest).query))
}

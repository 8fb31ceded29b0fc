/** `holdpoint next`, and `holdpoint answer ID` without options: shows pending requests in this terminal, with the keys of `run` and `tui`. */
import { Inbox, watchEvents } from '@holdpoint/client'
import { Fault, type Request } from '@holdpoint/protocol'
import { alreadyResolved } from '../../commands/submit-answer.ts'
import { results } from '../../commands/texts.ts'
import type { GatewayClient } from '../../gateway-client/gateway-client.ts'
import { Cancelled } from '../../output/interactive.ts'
import { out } from '../../output/output.ts'
import { type Row, row, trusted, untrusted } from '../../output/span.ts'
import { runTexts } from '../run/texts.ts'
import { isInteractive, listenersFor, Terminal } from '../terminal/terminal.ts'
import { entryRows } from '../transcript/entry-rows.ts'
import { AnswerModel } from './answer-model.ts'
import { answerViewTexts as texts } from './texts.ts'

/** Shows the pending requests, the most urgent first, until all are answered or the person leaves. */
export async function answerNext(client: GatewayClient): Promise<void> {
  if (!isInteractive()) throw new Fault('bad_input', texts.needsTerminal)
  const resolved = await showRequests(client, null)
  const { length } = (await client.call('listRequests', { status: 'pending', limit: 1 })).items
  if (length === 0) out.print(row(trusted(resolved.length === 0 ? texts.nothingPending : texts.nothingLeft)))
}

/** Shows one request. Throws if it was answered elsewhere, or if the person leaves without an answer. */
export async function answerOne(client: GatewayClient, request: Request): Promise<void> {
  if (request.status === 'resolved') throw alreadyResolved(request, false)
  const [done] = await showRequests(client, request)
  if (done?.isAnsweredHere) return
  const current = done?.request ?? (await client.call('getRequest', { id: request.id }))
  if (current.status === 'resolved') throw alreadyResolved(current, false)
  throw new Cancelled(texts.notAnswered(request.id))
}

interface ResolvedRequest {
  readonly request: Request
  readonly isAnsweredHere: boolean
}

async function showRequests({ call, connection }: GatewayClient, only: Request | null) {
  const [{ id: me }, { items: drivers }] = await Promise.all([call('whoAmI', {}), call('listDrivers', {})])
  const session = only === null ? {} : { session: only.session }
  const inbox = new Inbox({ call, watch: options => watchEvents(connection, options), ...session })
  const terminal = new Terminal('inline')
  const resolved: ResolvedRequest[] = []
  const model = new AnswerModel({
    call,
    inbox,
    me,
    only,
    modesOf: driver => drivers.find(({ name }) => name === driver)?.modes ?? [],
    size: () => ({ columns: process.stdout.columns || 80, height: (process.stdout.rows || 24) - 1 }),
    edit: (text, extension) => terminal.edit(text, extension),
    onResolved: (request, isAnsweredHere) => {
      resolved.push({ request, isAnsweredHere })
      terminal.printAbove(() => out.print(...outcomeRows(request, me, isAnsweredHere)))
    },
    changed: terminal.redraw,
  })
  let leave = () => {}
  const left = new Promise<void>(resolve => {
    leave = resolve
  })
  terminal.open(() => model.frame, listenersFor(model, leave))
  try {
    model.update()
    await Promise.race([model.ending, left])
    terminal.close()
    await model.close()
    const { ended } = inbox.getSnapshot()
    if (ended) out.print(row(trusted(runTexts.connectionClosed, 'no'), untrusted(ended.message)))
    return resolved
  } finally {
    terminal.close()
    inbox.close()
  }
}

/** A request that needs several people is still pending after one of them has answered. */
function outcomeRows(request: Request, me: string, isAnsweredHere: boolean): readonly Row[] {
  const { id, openedAt: at, agentPath, status } = request
  if (status === 'pending') return [row(trusted(results.awaitingOthers(id)))]
  const context = { me, columns: out.columns ?? Number.POSITIVE_INFINITY, isAnsweredHere: () => isAnsweredHere }
  return entryRows({ kind: 'request', id, at, request, agentPath }, context)
}

/** `holdpoint show`: one request whole, or one session. */
import type { Call, Request } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { type RequestContext, requestRows, suggestionsOf } from '../output/request.ts'
import { sessionRows } from '../output/session.ts'
import { blankRow, type Row, row, trusted } from '../output/span.ts'
import { findRequest, findSession } from './ids.ts'

export async function show(
  { call }: GatewayClient,
  spelled: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  if (spelled.startsWith('ses_')) {
    const session = await findSession(call, spelled)
    if (json) return out.json(session)
    return out.print(...sessionRows(session, (await call('whoAmI', {})).now))
  }
  const request = await findRequest(call, spelled)
  if (json) return out.json(request)
  out.print(...requestRows(request, await requestContext(call, request)), ...answerHintRows(request))
}

/** A session that is gone is no reason not to show what was asked. */
export async function requestContext(call: Call, { session }: Request): Promise<RequestContext> {
  const [{ person, now }, found] = await Promise.all([
    call('whoAmI', {}),
    call('getSession', { id: session }).catch(() => null),
  ])
  return { session: found, now, me: person }
}

function answerHintRows({ id, ask, status }: Request): readonly Row[] {
  if (status === 'resolved') return []
  const offers = ask.kind === 'approval' && suggestionsOf(ask).length > 0
  const ways = {
    approval: [
      `holdpoint allow ${id}`,
      ...(offers ? [`holdpoint allow ${id} --always NUMBER`] : []),
      `holdpoint deny ${id} --reason "…"`,
    ],
    questions: [`holdpoint answer ${id} --choose LABEL`, `holdpoint answer ${id} --decline`],
    form: [`holdpoint answer ${id} --set FIELD=VALUE`, `holdpoint answer ${id} --decline`],
  }[ask.kind]
  return [blankRow, ...ways.map(way => row(trusted(way, 'quiet')))]
}

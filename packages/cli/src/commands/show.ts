/** `holdpoint show`: one request whole, or one session. */
import type { Call, Request } from '@holdpoint/protocol'
import type { Remote } from '../remote.ts'
import { type Around, offersOf, requestRows } from '../text/request.ts'
import { out } from '../text/screen.ts'
import { sessionRows } from '../text/session.ts'
import { blank, ours, type Row, row } from '../text/span.ts'
import { findRequest, findSession } from './ids.ts'

export async function show({ call }: Remote, spelled: string, { json }: { readonly json?: boolean }): Promise<void> {
  if (spelled.startsWith('ses_')) {
    const session = await findSession(call, spelled)
    if (json) return out.json(session)
    return out.print(...sessionRows(session, (await call('whoAmI', {})).now))
  }
  const request = await findRequest(call, spelled)
  if (json) return out.json(request)
  out.print(...requestRows(request, await around(call, request)), ...replyRows(request))
}

/** A session that is gone is no reason not to show what was asked. */
export async function around(call: Call, { session }: Request): Promise<Around> {
  const [{ person, now }, found] = await Promise.all([
    call('whoAmI', {}),
    call('getSession', { id: session }).catch(() => null),
  ])
  return { session: found, now, me: person }
}

function replyRows({ id, ask, status }: Request): readonly Row[] {
  if (status === 'resolved') return []
  const offers = ask.kind === 'approval' && offersOf(ask).length > 0
  const ways = {
    approval: [
      `holdpoint allow ${id}`,
      ...(offers ? [`holdpoint allow ${id} --always NUMBER`] : []),
      `holdpoint deny ${id} --reason "…"`,
    ],
    questions: [`holdpoint answer ${id} --choose LABEL`, `holdpoint answer ${id} --decline`],
    form: [`holdpoint answer ${id} --set FIELD=VALUE`, `holdpoint answer ${id} --decline`],
  }[ask.kind]
  return [blank, ...ways.map(way => row(ours(way, 'quiet')))]
}

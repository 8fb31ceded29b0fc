/** `holdpoint show`: prints a request in full, or a session. */
import { previewLabel, ruleExplanation, ruleLabel } from '@holdpoint/client'
import type { Call, Request } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { loadRuleOffers } from '../gateway-client/rule-offers.ts'
import { out } from '../output/output.ts'
import { type RequestContext, requestRows, suggestionsOf } from '../output/request.ts'
import { sessionRows } from '../output/session.ts'
import { blankRow, labelled, type Row, row, trusted } from '../output/span.ts'
import { findRequest, findSession } from './ids.ts'
import { rulesTexts as ruleTexts } from './rules-texts.ts'

export async function show(
  { call }: GatewayClient,
  typedId: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  if (typedId.startsWith('ses_')) {
    const session = await findSession(call, typedId)
    if (json) return out.json(session)
    return out.print(...sessionRows(session, (await call('whoAmI', {})).now))
  }
  const request = await findRequest(call, typedId)
  if (json) return out.json(request)
  const rules = await ruleRows(call, request)
  out.print(...requestRows(request, await requestContext(call, request)), ...rules, ...answerHintRows(request, rules))
}

/** Lists the rules that would allow a pending request from now on. Their numbers follow those of the agent's suggestions. */
async function ruleRows(call: Call, { id, ask, status }: Request): Promise<readonly Row[]> {
  if (ask.kind !== 'approval' || status === 'resolved') return []
  const { items, now } = await loadRuleOffers(call, id)
  const first = suggestionsOf(ask).length + 1
  return items.flatMap(({ rule, runsProjectCode, preview }, index) => [
    labelled(index === 0 ? 'Rules' : '', trusted(`${first + index}  `), trusted(ruleLabel(rule))),
    labelled(
      '',
      trusted(`   ${ruleExplanation(rule)}${runsProjectCode ? ` ${ruleTexts.runsProjectCode}` : ''}`, 'quiet'),
    ),
    labelled('', trusted(`   ${previewLabel(preview, now)}`, 'quiet')),
  ])
}

/** Fetches what is printed with a request. The session is null if it was deleted. */
export async function requestContext(call: Call, { session }: Request): Promise<RequestContext> {
  const [{ id: me, now }, existing] = await Promise.all([
    call('whoAmI', {}),
    call('getSession', { id: session }).catch(() => null),
  ])
  return { session: existing, now, me }
}

function answerHintRows({ id, ask, status }: Request, rules: readonly Row[]): readonly Row[] {
  if (status === 'resolved') return []
  const isRememberable = ask.kind === 'approval' && (suggestionsOf(ask).length > 0 || rules.length > 0)
  const commands = {
    approval: [
      `holdpoint allow ${id}`,
      ...(isRememberable ? [`holdpoint allow ${id} --always NUMBER`] : []),
      `holdpoint deny ${id} --reason "…"`,
    ],
    questions: [`holdpoint answer ${id} --choose LABEL`, `holdpoint answer ${id} --decline`],
    form: [`holdpoint answer ${id} --set FIELD=VALUE`, `holdpoint answer ${id} --decline`],
  }[ask.kind]
  return [blankRow, ...commands.map(command => row(trusted(command, 'quiet')))]
}

/** `holdpoint show`: prints a request in full, or a session. */
import { previewLabel, resolutionText, ruleExplanation, ruleLabel } from '@holdpoint/client'
import { type Call, Fault, faultStatus, type Request } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { loadRuleOffers } from '../gateway-client/rule-offers.ts'
import { out } from '../output/output.ts'
import { type RequestContext, requestRows, suggestionsOf } from '../output/request.ts'
import { blankRow, labelled, type Row, row, trusted } from '../output/span.ts'
import { findRequest, findSession } from './ids.ts'
import { rulesTexts as ruleTexts } from './rules-texts.ts'
import { showSession } from './show-session.ts'

export async function show(
  { call }: GatewayClient,
  typedId: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  if (typedId.startsWith('ses_')) return showSession(call, await findSession(call, typedId), json)
  const request = await findRequest(call, typedId).catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error
    // The letters may be the start of a session's id. If no session matches either, the error says that there is no such request.
    return findSession(call, typedId).catch((other: unknown) => {
      throw isNotFound(other) ? error : other
    })
  })
  if (!('ask' in request)) return showSession(call, request, json)
  if (json) return out.json(request)
  const rules = await ruleRows(call, request)
  const context = await requestContext(call, request)
  const followed = await followedRows(call, request, context.me)
  out.print(...requestRows(request, context), ...followed, ...rules, ...answerHintRows(request, rules))
}

/** Shows what a person asked back before this request; nothing if the earlier request cannot be read. */
async function followedRows(call: Call, { follows }: Request, me: string): Promise<readonly Row[]> {
  if (!follows) return []
  const earlier = await call('getRequest', { id: follows }).catch(() => null)
  if (!earlier?.resolution) return []
  return [labelled('Follows', trusted(`${earlier.id}  ${resolutionText(earlier.resolution, me)}`))]
}

function isNotFound(error: unknown): boolean {
  return error instanceof Fault && faultStatus[error.code] === 404
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

/** Fetches what is printed with a request. The session is null if it was deleted or cannot be read, because the request can be printed without it. */
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
      `holdpoint deny ${id} --ask "…"`,
    ],
    questions: [`holdpoint answer ${id} ${questionOptions(ask)}`, `holdpoint answer ${id} --decline`],
    form: [`holdpoint answer ${id} --set FIELD=VALUE`, `holdpoint answer ${id} --decline`],
  }[ask.kind]
  return [blankRow, ...commands.map(command => row(trusted(command, 'quiet')))]
}

/** Returns the options that answer the questions: `--text` for a question without options, from stdin if the answer is secret. */
function questionOptions(ask: Request['ask']): string {
  if (ask.kind !== 'questions') return ''
  const name = ask.questions.length > 1 ? 'QUESTION=' : ''
  const options = ask.questions.map(({ options: labels, secret }) =>
    labels.length > 0 ? `--choose ${name}LABEL` : `--text ${name}${secret ? '-' : 'TEXT'}`,
  )
  return [...new Set(options)].join(' ')
}

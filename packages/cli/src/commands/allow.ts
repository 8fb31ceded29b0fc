/** `holdpoint allow` and `holdpoint deny`. Nobody allows what was not shown whole: a person reads it to its end, a script names its digest (G9). */
import { effectiveAsk } from '@holdpoint/client'
import { type Answer, answerProblem, type Call, Fault, type Request } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { askLine, Cancelled, pageThrough } from '../output/interactive.ts'
import { err, type Output, out } from '../output/output.ts'
import { requestRows, suggestionsOf } from '../output/request.ts'
import { labelled, row, trusted, untrusted } from '../output/span.ts'
import { findRequest } from './ids.ts'
import { readObject } from './input-files.ts'
import { modesOf } from './lists.ts'
import { requestContext } from './show.ts'
import { alreadyResolved, submitAnswer } from './submit-answer.ts'

export interface AllowOptions {
  readonly note?: string
  readonly input?: string
  readonly digest?: string
  /** The number of what the agent offers. */
  readonly always?: string
  readonly mode?: string
  readonly json?: boolean
}

export async function allow({ call }: GatewayClient, spelled: string, options: AllowOptions): Promise<void> {
  const { note, always, mode, digest, json } = options
  const request = await findRequest(call, spelled)
  const input = options.input === undefined ? undefined : readObject(options.input, 'the whole input')
  const answer: Answer = {
    kind: 'allow',
    ...(input && { input }),
    ...(note !== undefined && { note }),
    ...(always !== undefined && { suggestion: suggestionId(request, always) }),
    ...(mode !== undefined && { mode }),
  }
  requireFittingAnswer(request, answer)
  if (mode !== undefined) await requirePlanMode(call, request, mode)
  if (digest === undefined) await confirmAtTerminal(call, request, answer, json)
  await submitAnswer(call, { request, answer, digest, json })
}

/** By its number, as `show` lists it: ids are the agent's, and may look like any number. */
function suggestionId({ id, ask }: Request, number: string): string {
  const offers = ask.kind === 'approval' ? suggestionsOf(ask) : []
  const offer = /^\d+$/.test(number) ? offers[Number(number) - 1] : undefined
  if (offer) return offer.id
  throw new Fault(
    'bad_input',
    offers.length === 0
      ? `${id} offers nothing to remember; leave --always out`
      : `--always takes a number: ${id} offers 1 to ${offers.length}, as holdpoint show ${id} lists them`,
  )
}

/** A plan is left for a mode; anything else is allowed in the mode that the session is in. */
async function requirePlanMode(call: Call, { id, session, ask }: Request, mode: string): Promise<void> {
  const plan = ask.kind === 'approval' && ask.plan !== undefined ? ask : null
  const open = plan && (plan.modes ?? (await modesOf(call, (await call('getSession', { id: session })).driver)))
  if (open?.includes(mode)) return
  throw new Fault(
    'bad_input',
    open && open.length > 0
      ? `"${mode}" is not a mode in which ${id} can go on; there is ${open.join(', ')}`
      : `${id} ${plan ? 'names no modes to go on in' : 'is no plan, which a mode could be chosen for'}; leave --mode out`,
  )
}

/** Said before anyone is asked to confirm what the gateway would refuse. */
export function requireFittingAnswer({ id, ask }: Request, answer: Answer): void {
  const wrong = answerProblem(ask, answer)
  if (wrong) throw new Fault('answer_mismatch', `The answer does not fit request ${id}: ${wrong}`)
}

async function confirmAtTerminal(
  call: Call,
  request: Request,
  answer: Answer,
  json: boolean | undefined,
): Promise<void> {
  if (request.status === 'resolved') throw alreadyResolved(request, json)
  // What is to be kept for a program is not mixed with what is shown to a person.
  const screen = out.isTerminal && !json ? out : err
  if (!process.stdin.isTTY || !screen.isTerminal)
    throw new Fault(
      'bad_input',
      `${request.id} cannot be shown whole without a terminal; read it (holdpoint show ${request.id}) and name what you read by the digest that stands there: --digest DIGEST`,
    )
  await showInFull(call, screen, request, answer)
  await confirm(screen, request, answer)
}

/** As it will run: with the person's own changes, where there are any. */
async function showInFull(call: Call, screen: Output, request: Request, answer: Answer): Promise<void> {
  const ask = effectiveAsk(request.ask, { at: 0, by: 'person', answer })
  const rows = [...requestRows({ ...request, ask }, await requestContext(call, request))]
  if (ask !== request.ask) rows.push(row(trusted('This is what will run: your input, not the agent’s.', 'waiting')))
  if (answer.kind === 'allow') {
    if (answer.note !== undefined) rows.push(labelled('Your note', untrusted(answer.note)))
    const taken = ask.kind === 'approval' && ask.suggestions?.find(({ id }) => id === answer.suggestion)
    if (taken)
      rows.push(labelled('Remembers', untrusted(taken.label), trusted(' ('), untrusted(taken.scope), trusted(')')))
    if (answer.mode !== undefined) rows.push(labelled('Then mode', untrusted(answer.mode)))
  }
  if (!(await pageThrough(screen, rows)))
    throw new Cancelled(`${request.id} was not allowed: its end was not shown. It still waits.`)
}

async function confirm(screen: Output, { id, ask }: Request, answer: Answer): Promise<void> {
  const careful = ask.kind === 'approval' && ask.caution?.defaultToNo === true
  const remembers = answer.kind === 'allow' && answer.suggestion !== undefined
  const plain = remembers ? 'Allow this, and have that remembered? [y/N] ' : 'Allow this once? [y/N] '
  const question = careful ? 'This is marked as dangerous. Type "allow" to allow it: ' : plain
  const said = (await askLine(screen, trusted(question, 'strong')))?.trim().toLowerCase()
  const yes = careful ? said === 'allow' : said === 'y' || said === 'yes'
  if (!yes) throw new Cancelled(`${id} was not allowed. It still waits.`)
}

export interface DenyOptions {
  readonly reason?: string
  readonly stop?: boolean
  readonly json?: boolean
}

/** Questions and forms are declined in the same words. */
export async function deny(
  { call }: GatewayClient,
  spelled: string,
  { reason, stop, json }: DenyOptions,
): Promise<void> {
  const request = await findRequest(call, spelled)
  const answer: Answer = {
    kind: request.ask.kind === 'approval' ? 'deny' : 'decline',
    ...(reason !== undefined && { reason }),
    ...(stop && { interrupt: true }),
  }
  await submitAnswer(call, { request, answer, json })
}

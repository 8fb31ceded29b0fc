/** `holdpoint allow` and `holdpoint deny`. To allow a request, a person must read it to the end, and a script must pass the request's digest (G9). */
import { effectiveAsk } from '@holdpoint/client'
import { type Answer, answerProblem, type Call, Fault, type Request } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { askLine, Cancelled, pageThrough } from '../output/interactive.ts'
import { err, type Output, out } from '../output/output.ts'
import { requestRows, suggestionsOf } from '../output/request.ts'
import { labelled, row, trusted, untrustedCode, untrustedLine } from '../output/span.ts'
import { findRequest } from './ids.ts'
import { readObject } from './input-files.ts'
import { modesOf } from './queries.ts'
import { requestContext } from './show.ts'
import { alreadyResolved, submitAnswer } from './submit-answer.ts'
import { allowTexts, answerTexts } from './texts.ts'

export interface AllowOptions {
  readonly note?: string
  readonly input?: string
  readonly digest?: string
  /** The number of an “always allow” suggestion. */
  readonly always?: string
  readonly mode?: string
  readonly json?: boolean
}

export async function allow({ call }: GatewayClient, typedId: string, options: AllowOptions): Promise<void> {
  const { note, always, mode, digest, json } = options
  const request = await findRequest(call, typedId)
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

/** Finds a suggestion by the number that `show` prints. Suggestion ids are not accepted, because agents choose the ids, and an id may look like the number of another suggestion. */
function suggestionId({ id, ask }: Request, number: string): string {
  const suggestions = ask.kind === 'approval' ? suggestionsOf(ask) : []
  const suggestion = /^\d+$/.test(number) ? suggestions[Number(number) - 1] : undefined
  if (suggestion) return suggestion.id
  throw new Fault(
    'bad_input',
    suggestions.length === 0 ? allowTexts.noSuggestions(id) : allowTexts.badSuggestion(id, suggestions.length),
  )
}

/** Throws unless the request is a plan and its agent can continue in this mode. */
async function requirePlanMode(call: Call, { id, session, ask }: Request, mode: string): Promise<void> {
  if (ask.kind !== 'approval' || ask.plan === undefined) throw new Fault('bad_input', allowTexts.notAPlan(id))
  const modes = ask.modes ?? (await modesOf(call, (await call('getSession', { id: session })).driver))
  if (modes.includes(mode)) return
  throw new Fault(
    'bad_input',
    modes.length === 0 ? allowTexts.noPlanModes(id) : allowTexts.badPlanMode(id, mode, modes),
  )
}

/** Throws if the answer does not fit the request, so that the person is not asked to confirm it. The gateway checks the answer again. */
export function requireFittingAnswer({ id, ask }: Request, answer: Answer): void {
  const problem = answerProblem(ask, answer)
  if (problem) throw new Fault('answer_mismatch', answerTexts.refused(id, problem))
}

async function confirmAtTerminal(
  call: Call,
  request: Request,
  answer: Answer,
  json: boolean | undefined,
): Promise<void> {
  if (request.status === 'resolved') throw alreadyResolved(request, json)
  // With --json or a redirected stdout, the dialog goes to stderr, so that stdout contains only the result.
  const output = out.isTerminal && !json ? out : err
  if (!process.stdin.isTTY || !output.isTerminal) throw new Fault('bad_input', allowTexts.noTerminal(request.id))
  await showInFull(call, output, request, answer)
  await confirm(output, request, answer)
}

/** Shows the whole request as it would run, with the person's own input if there is one. */
async function showInFull(call: Call, output: Output, request: Request, answer: Answer): Promise<void> {
  const ask = effectiveAsk(request.ask, { at: 0, by: 'person', answer })
  const rows = [...requestRows({ ...request, ask }, await requestContext(call, request))]
  if (ask !== request.ask) rows.push(row(trusted(allowTexts.ownInput, 'waiting')))
  if (answer.kind === 'allow') {
    if (answer.note !== undefined) rows.push(labelled('Your note', untrustedLine(answer.note)))
    const chosen = ask.kind === 'approval' && ask.suggestions?.find(({ id }) => id === answer.suggestion)
    if (chosen)
      rows.push(
        labelled('Remembers', untrustedCode(chosen.label), trusted(' ('), untrustedCode(chosen.scope), trusted(')')),
      )
    if (answer.mode !== undefined) rows.push(labelled('Next mode', untrustedCode(answer.mode)))
  }
  if (!(await pageThrough(output, rows))) throw new Cancelled(allowTexts.notRead(request.id))
}

async function confirm(output: Output, { id, ask }: Request, answer: Answer): Promise<void> {
  const isDangerous = ask.kind === 'approval' && ask.caution?.defaultToNo === true
  const remembers = answer.kind === 'allow' && answer.suggestion !== undefined
  const question = remembers ? allowTexts.confirmAndRemember : allowTexts.confirm
  const prompt = isDangerous ? allowTexts.confirmDangerous : question
  const typed = (await askLine(output, trusted(prompt, 'strong')))?.trim().toLowerCase()
  const isConfirmed = isDangerous ? typed === 'allow' : typed === 'y' || typed === 'yes'
  if (!isConfirmed) throw new Cancelled(allowTexts.notConfirmed(id))
}

export interface DenyOptions {
  readonly reason?: string
  readonly stop?: boolean
  readonly json?: boolean
}

/** Denies an approval; declines questions and forms. */
export async function deny(
  { call }: GatewayClient,
  typedId: string,
  { reason, stop, json }: DenyOptions,
): Promise<void> {
  const request = await findRequest(call, typedId)
  const answer: Answer = {
    kind: request.ask.kind === 'approval' ? 'deny' : 'decline',
    ...(reason !== undefined && { reason }),
    ...(stop && { interrupt: true }),
  }
  await submitAnswer(call, { request, answer, json })
}

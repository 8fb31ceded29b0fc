/** `holdpoint allow` and `holdpoint deny`. To allow a request, a person must read it to the end, and a script must pass the request's digest (G9). */
import { effectiveAsk, isDangerous, lineOf, type RuleDuration } from '@holdpoint/client'
import {
  type Answer,
  answerProblem,
  type Call,
  type Comment,
  Fault,
  type Request,
  type RuleDraft,
} from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { withDuration } from '../gateway-client/rule-offers.ts'
import { askLine, Cancelled, pageThrough } from '../output/interactive.ts'
import { err, type Output, out } from '../output/output.ts'
import { answerRows, requestRows, suggestionsOf } from '../output/request.ts'
import { blankRow, type Row, row, trusted } from '../output/span.ts'
import { AnswerResults } from './answer-results.ts'
import { parseDuration } from './durations.ts'
import { findRequests } from './ids.ts'
import { readObject } from './input-files.ts'
import { modesOf } from './queries.ts'
import { requestContext } from './show.ts'
import { alreadyResolved, submitAnswer } from './submit-answer.ts'
import { allowTexts, answerTexts, denyTexts } from './texts.ts'

export interface AllowOptions {
  readonly note?: string
  readonly input?: string
  readonly digest?: string
  /** The number of a suggestion or of a rule, as `show` prints it; true for the first rule. */
  readonly always?: string | true
  /** How long the rule applies. */
  readonly for?: string
  readonly mode?: string
  /** Comments on lines, each as `LINE=TEXT` or `PATH:LINE=TEXT`. */
  readonly comment?: readonly string[]
  readonly json?: boolean
}
/** The options that fit only one request. */
const allowOneOptions = ['input', 'digest', 'always', 'for', 'mode', 'comment'] as const

export async function allow(
  { call }: GatewayClient,
  typedIds: readonly string[],
  options: AllowOptions,
): Promise<void> {
  const [request, ...others] = await findRequests(call, typedIds)
  if (!request) return
  if (others.length === 0) return allowOne(call, request, options)
  requireNone(options, allowOneOptions)
  await allowSeveral(call, [request, ...others], options)
}

async function allowOne(call: Call, request: Request, options: AllowOptions): Promise<void> {
  const { note, always, mode, digest, comment = [], json } = options
  if (options.for !== undefined && always === undefined) throw new Fault('bad_input', allowTexts.forWithoutAlways)
  const input = options.input === undefined ? undefined : readObject(options.input, 'the whole input')
  const answer: Answer = {
    kind: 'allow',
    ...(input && { input }),
    ...(note !== undefined && { note }),
    ...(always !== undefined && (await remembered(call, request, always, options.for))),
    ...(mode !== undefined && { mode }),
    ...commentsFrom(request, comment),
  }
  requireFittingAnswer(request, answer)
  if (mode !== undefined) await requirePlanMode(call, request, mode)
  if (digest === undefined) await confirmAtTerminal(call, request, answer, json)
  await submitAnswer(call, { request, answer, digest, json })
}

/** Finds a suggestion of the agent or a rule of Holdpoint by the number that `show` prints: the suggestions first, because their numbers never change. Suggestion ids are not accepted, because agents choose the ids, and an id may look like the number of another suggestion. */
async function remembered(
  call: Call,
  { id, session, ask }: Request,
  always: string | true,
  duration: string | undefined,
): Promise<{ readonly suggestion: string } | { readonly remember: RuleDraft }> {
  if (ask.kind !== 'approval' || ask.caution?.noRemember) throw new Fault('bad_input', allowTexts.mayNotRemember(id))
  const suggestions = suggestionsOf(ask)
  const { items, reason = '' } = await call('proposeRules', { id })
  const count = suggestions.length + items.length
  if (count === 0) throw new Fault('bad_input', allowTexts.nothingToRemember(id, reason))
  const index = always === true ? suggestions.length : /^\d+$/.test(always) ? Number(always) - 1 : -1
  const suggestion = suggestions[index]
  const proposal = items[index - suggestions.length]
  if (suggestion) {
    if (duration !== undefined) throw new Fault('bad_input', allowTexts.suggestionDuration)
    return { suggestion: suggestion.id }
  }
  if (!proposal) throw new Fault('bad_input', allowTexts.badNumber(id, count))
  const { now } = await call('whoAmI', {})
  return { remember: withDuration(proposal.rule, durationFrom(duration), { session, now }) }
}

function durationFrom(typed: string | undefined): RuleDuration | { readonly ms: number } {
  if (typed === undefined) return 'none'
  if (typed === 'turn' || typed === 'session') return typed
  const ms = parseDuration(typed)
  if (ms === null) throw new Fault('bad_input', allowTexts.badDuration(typed))
  return { ms }
}

/** Throws unless the request is a plan and its agent can continue in this mode. */
async function requirePlanMode(call: Call, { id, session, ask }: Request, mode: string): Promise<void> {
  if (ask.kind !== 'approval' || ask.plan === undefined) throw new Fault('bad_input', allowTexts.notAPlan(id))
  const modes = ask.modes ?? (await modesOf(call, (await call('getSession', { id: session })).driver)) ?? []
  if (modes.includes(mode)) return
  throw new Fault(
    'bad_input',
    modes.length === 0 ? allowTexts.noPlanModes(id) : allowTexts.badPlanMode(id, mode, modes),
  )
}

/** Throws if the answer does not fit the request, before the person is asked to confirm the answer. The gateway checks the answer again. */
export function requireFittingAnswer({ id, ask }: Request, answer: Answer): void {
  const problem = answerProblem(ask, answer)
  if (problem) throw new Fault('answer_mismatch', answerTexts.refused(id, problem))
}

/** Returns where the person confirms; null without a terminal. With --json or a redirected stdout, the dialog goes to stderr, so that stdout contains only the result. */
function dialogOutput(json: boolean | undefined): Output | null {
  const output = out.isTerminal && !json ? out : err
  return process.stdin.isTTY && output.isTerminal ? output : null
}

async function confirmAtTerminal(
  call: Call,
  request: Request,
  answer: Answer,
  json: boolean | undefined,
): Promise<void> {
  if (request.status === 'resolved') throw alreadyResolved(request, json)
  const output = dialogOutput(json)
  if (!output) throw new Fault('bad_input', allowTexts.noTerminal(request.id))
  const edited = answer.kind === 'allow' ? answer.input : undefined
  const risk = edited ? (await call('checkInput', { id: request.id, input: edited })).risk : request.risk
  const shown: Request = { ...request, risk }
  await showInFull(call, output, shown, answer)
  await confirm(output, shown, answer)
}

/** Shows the whole request as it would run, with the person's own input if there is one. */
async function showInFull(call: Call, output: Output, request: Request, answer: Answer): Promise<void> {
  if (!(await pageThrough(output, await rowsInFull(call, request, answer))))
    throw new Cancelled(allowTexts.notRead(request.id))
}
async function rowsInFull(call: Call, request: Request, answer: Answer): Promise<readonly Row[]> {
  const ask = effectiveAsk(request.ask, answer.kind === 'allow' ? answer.input : null)
  const rows = [...requestRows({ ...request, ask }, await requestContext(call, request))]
  if (ask !== request.ask) rows.push(row(trusted(allowTexts.ownInput, 'waiting')))
  return [...rows, ...answerRows(ask, answer)]
}

async function confirm(output: Output, request: Request, answer: Answer): Promise<void> {
  const { id, ask } = request
  const needsWord = isDangerous(request)
  const isFlagged = ask.kind === 'approval' && ask.caution?.defaultToNo === true
  const remembers = answer.kind === 'allow' && (answer.suggestion !== undefined || answer.remember !== undefined)
  const question = remembers ? allowTexts.confirmAndRemember : allowTexts.confirm
  const prompt = needsWord ? (isFlagged ? allowTexts.confirmFlagged : allowTexts.confirmDangerous) : question
  const typed = (await askLine(output, trusted(prompt, 'strong')))?.trim()
  const isConfirmed = needsWord ? typed?.toLowerCase() === 'allow' : isYes(typed)
  if (!isConfirmed) throw new Cancelled(allowTexts.notConfirmed(id))
}

function isYes(typed: string | undefined): boolean {
  return ['y', 'yes'].includes(typed?.toLowerCase() ?? '')
}

/** Allows several requests. Those that are not dangerous are shown in full, confirmed together and answered with one call. Each dangerous one is confirmed on its own. */
async function allowSeveral(
  call: Call,
  requests: readonly Request[],
  { note, json }: Pick<AllowOptions, 'note' | 'json'>,
): Promise<void> {
  const answer: Answer = { kind: 'allow', ...(note !== undefined && { note }) }
  for (const request of requests) requireFittingAnswer(request, answer)
  const output = dialogOutput(json)
  if (!output) throw new Fault('bad_input', allowTexts.severalNeedTerminal)
  const results = new AnswerResults(call, json)
  const answerIf = async (isConfirmed: boolean, confirmed: readonly Request[]) => {
    if (isConfirmed) await results.submit(confirmed.map(request => ({ request, answer })))
    else for (const request of confirmed) results.addUnconfirmed(request)
  }
  for (const request of requests) if (request.status === 'resolved') results.addResolved(request)
  const pending = requests.filter(request => request.status === 'pending')
  const together = pending.filter(request => !isDangerous(request))
  if (together.length > 0) await answerIf(await confirmTogether(call, output, together, answer), together)
  for (const request of pending.filter(isDangerous))
    await answerIf(await confirmAlone(call, output, request, answer), [request])
  results.finish(requests)
}

/** Shows all requests in full and asks once. Returns false if the person does not confirm, or does not read to the end. */
async function confirmTogether(
  call: Call,
  output: Output,
  requests: readonly Request[],
  answer: Answer,
): Promise<boolean> {
  const [first] = requests
  if (first && requests.length === 1) return confirmAlone(call, output, first, answer)
  const rows: Row[] = []
  for (const [index, request] of requests.entries())
    rows.push(
      row(trusted(allowTexts.position(index + 1, requests.length), 'waiting')),
      ...(await rowsInFull(call, request, answer)),
      blankRow,
    )
  if (!(await pageThrough(output, rows))) return false
  const typed = (await askLine(output, trusted(allowTexts.confirmSeveral(requests.length), 'strong')))?.trim()
  return isYes(typed)
}

async function confirmAlone(call: Call, output: Output, request: Request, answer: Answer): Promise<boolean> {
  try {
    await showInFull(call, output, request, answer)
    await confirm(output, request, answer)
    return true
  } catch (error) {
    if (error instanceof Cancelled) return false
    throw error
  }
}

export interface DenyOptions {
  readonly reason?: string
  /** A question to the agent instead of a denial. */
  readonly ask?: string
  /** Comments on lines, each as `LINE=TEXT` or `PATH:LINE=TEXT`. */
  readonly comment?: readonly string[]
  readonly stop?: boolean
  readonly json?: boolean
}

/** Denies approvals; declines questions and forms. With `ask`, the agents are asked a question instead. */
export async function deny({ call }: GatewayClient, typedIds: readonly string[], options: DenyOptions): Promise<void> {
  if (options.ask !== undefined && options.reason !== undefined) throw new Fault('bad_input', denyTexts.askOrReason)
  const requests = await findRequests(call, typedIds)
  const [request, ...others] = requests
  if (request && others.length === 0)
    return submitAnswer(call, { request, answer: denyAnswer(request, options), json: options.json })
  requireNone(options, ['comment'])
  const results = new AnswerResults(call, options.json)
  await results.submit(requests.map(each => ({ request: each, answer: denyAnswer(each, options) })))
  results.finish(requests)
}

function denyAnswer(request: Request, { reason, ask, comment = [], stop }: DenyOptions): Answer {
  if (comment.length > 0 && request.ask.kind !== 'approval') throw new Fault('bad_input', denyTexts.noLines(request.id))
  const text = ask ?? reason
  const answer: Answer = {
    kind: request.ask.kind === 'approval' ? 'deny' : 'decline',
    ...(text !== undefined && { reason: text }),
    ...commentsFrom(request, comment),
    ...(ask !== undefined && { askBack: true }),
    ...(stop && { interrupt: true }),
  }
  requireFittingAnswer(request, answer)
  return answer
}

/** Throws if one of these options is given, because it fits only one request. */
function requireNone<T extends object>(options: T, names: readonly (keyof T & string)[]): void {
  const given = names.find(name => options[name] !== undefined)
  if (given !== undefined) throw new Fault('bad_input', answerTexts.onlyOneRequest(`--${given}`))
}

function commentsFrom(request: Request, typed: readonly string[]): { readonly comments?: Comment[] } {
  return typed.length > 0 ? { comments: typed.map(one => parseComment(request, one)) } : {}
}

/** Reads `LINE=TEXT` or `PATH:LINE=TEXT`, and adds a quote of that line of the command, the plan or the change. */
function parseComment({ id, ask }: Request, typed: string): Comment {
  const end = typed.indexOf('=')
  const place = typed.slice(0, Math.max(0, end))
  const colon = place.lastIndexOf(':')
  const [line, text] = [place.slice(colon + 1), typed.slice(end + 1).trim()]
  if (ask.kind !== 'approval' || !/^\d{1,9}$/.test(line) || text === '')
    throw new Fault('bad_input', denyTexts.badComment(typed))
  const found = lineOf(ask, Number(line), colon < 0 ? undefined : place.slice(0, colon))
  if (!found) throw new Fault('bad_input', denyTexts.noSuchLine(id, typed))
  return { ...found, text }
}

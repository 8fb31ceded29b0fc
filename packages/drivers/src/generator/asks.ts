/** How a generator agent asks: `const answer = yield* approval('Delete 3 files?')`. Each checks its words before anything is opened. */
import {
  type Answer,
  type ApprovalAsk,
  defaultDenyReason,
  Fault,
  type FormAsk,
  type JsonObject,
  limits,
  type OnDeadline,
  type Question,
  type QuestionAnswer,
  type QuestionsAsk,
} from '@holdpoint/protocol'
import { type HandedAnswer, nobodyAnswered, unknownOutcome } from '../session/open-request.ts'

/** Ends the turn; what was said stays in the history. */
export class TurnCancelled extends Error {
  override readonly name = 'TurnCancelled'
}
export function cancelTurn(reason = 'The agent ended the turn.'): never {
  throw new TurnCancelled(reason)
}

/** An ask before the driver has filled in the session's folder. */
export type AskDraft = (Omit<ApprovalAsk, 'cwd'> & { readonly cwd?: string | undefined }) | QuestionsAsk | FormAsk
export interface AskItem {
  readonly ask: AskDraft
  readonly agentPath?: readonly string[] | undefined
  readonly deadlineMs?: number | undefined
  readonly onDeadline?: OnDeadline | undefined
}
/** What an ask yields to the driver, which replies with one settlement per item. */
export interface AsksYield {
  readonly type: 'asks'
  readonly items: readonly AskItem[]
}
export type AskGenerator<T> = Generator<AsksYield, T, unknown>

export interface GeneratorAskOptions {
  /** The agent under the agent that asks, at any depth. */
  readonly agentPath?: readonly string[]
  readonly deadlineMs?: number
  readonly onDeadline?: OnDeadline
  /** `cancel` ends the turn unless the ask was granted; by default the agent goes on with the reason. */
  readonly onReject?: 'cancel' | 'continue'
}
export interface ApprovalOptions extends GeneratorAskOptions {
  readonly tool?: string
  readonly input?: JsonObject
  readonly cwd?: string
  readonly editable?: boolean
  readonly description?: string
  readonly plan?: string
  readonly suggestions?: ApprovalAsk['suggestions']
  readonly caution?: ApprovalAsk['caution']
}
export type Approval =
  | { readonly allowed: true; readonly input: JsonObject; readonly note?: string; readonly mode?: string }
  | { readonly allowed: false; readonly reason: string }

export interface ChoiceOption {
  readonly label: string
  readonly description?: string
  readonly preview?: string
}
export interface QuestionDraft {
  readonly id?: string
  readonly header?: string
  readonly question: string
  readonly options?: readonly (string | ChoiceOption)[]
  readonly multiSelect?: boolean
  readonly allowOther?: boolean
  readonly secret?: boolean
}
export type FormDraft = Omit<FormAsk, 'kind' | 'message'> & { readonly message?: string }

/** Asks whether something may be done. */
export function* approval(prompt: string, options: ApprovalOptions = {}): AskGenerator<Approval> {
  const { agentPath, deadlineMs, onDeadline, onReject, ...rest } = options
  checkPrompt('approval', prompt)
  const short = prompt.length <= limits.titleMax
  const ask: AskDraft = {
    kind: 'approval',
    tool: 'confirm',
    // What a person approves is covered by the digest: without an input that is the prompt itself.
    input: { prompt },
    editable: false,
    title: short ? prompt : `${prompt.slice(0, limits.titleMax - 1)}…`,
    ...(short ? {} : { description: prompt }),
    ...rest,
  }
  const settled = yield* ask1({ ask, agentPath, deadlineMs, onDeadline })
  if (settled.kind !== 'answer' || settled.answer.kind !== 'allow')
    return { allowed: false, reason: refused(settled, onReject) }
  const { note, mode } = settled.answer
  return {
    allowed: true,
    input: settled.input ?? {},
    ...(note === undefined ? {} : { note }),
    ...(mode === undefined ? {} : { mode }),
  }
}

/** One of several; null when declined or left unanswered. The value is the choice as it was given. */
export function* choice<const C extends string | ChoiceOption>(
  prompt: string,
  choices: readonly C[],
  options: GeneratorAskOptions = {},
): AskGenerator<{ readonly index: number; readonly value: C } | null> {
  checkPrompt('choice', prompt)
  if (!Array.isArray(choices) || choices.length === 0)
    throw refuse('choice', 'choices', 'must be a list with at least one choice')
  const draft: QuestionDraft = { id: 'choice', question: prompt, options: choices }
  const answers = yield* questions([draft], options)
  const chosen = answers?.[0]?.chosen[0]
  const index = choices.findIndex(item => labelOf(item) === chosen)
  const value = choices[index]
  return value === undefined ? null : { index, value }
}

/** Free text; null when declined or left unanswered. A secret is not kept once the agent has it. */
export function* text(
  prompt: string,
  { secret = false, ...options }: GeneratorAskOptions & { readonly secret?: boolean } = {},
): AskGenerator<string | null> {
  checkPrompt('text', prompt)
  const answers = yield* questions([{ id: 'text', question: prompt, allowOther: true, secret }], options)
  return answers?.[0]?.other ?? null
}

/** Several questions on one request: an answer per question (null: not answered), or null when declined. */
export function* questions(
  drafts: readonly QuestionDraft[],
  { onReject, ...options }: GeneratorAskOptions = {},
): AskGenerator<readonly (QuestionAnswer | null)[] | null> {
  if (!Array.isArray(drafts) || drafts.length === 0)
    throw refuse('questions', 'questions', 'must be a list with at least one question')
  const full = drafts.map(question)
  const settled = yield* ask1({ ask: { kind: 'questions', questions: full }, ...options })
  if (settled.kind !== 'answer' || settled.answer.kind !== 'answers') {
    refused(settled, onReject)
    return null
  }
  const { answers } = settled.answer
  return full.map(({ id }) => answers.find(answer => answer.id === id) ?? null)
}

/** A form; its values, or null when declined or left unanswered. */
export function* form(
  draft: FormDraft,
  { onReject, ...options }: GeneratorAskOptions = {},
): AskGenerator<JsonObject | null> {
  const settled = yield* ask1({ ask: { kind: 'form', message: '', ...draft }, ...options })
  if (settled.kind === 'answer' && settled.answer.kind === 'submit') return settled.answer.values
  refused(settled, onReject)
  return null
}

/** Opens several asks at once, each with its own id, answered in any order; goes on when all are. */
export function* all<const A extends readonly AskGenerator<unknown>[]>(
  askings: A,
): AskGenerator<{ readonly [K in keyof A]: A[K] extends AskGenerator<infer T> ? T : never }> {
  if (askings.length === 0) throw refuse('all', 'asks', 'needs at least one ask')
  const opened = askings.map(asking => ({ asking, first: asking.next() }))
  if (opened.some(({ first }) => !first.done && first.value?.type !== 'asks'))
    throw refuse('all', 'asks', 'may hold only asks; this is something else')
  const items = opened.flatMap(({ first }) => (first.done ? [] : first.value.items))
  const settled = (yield { type: 'asks', items }) as readonly HandedAnswer[] // the driver's reply, one per item
  let from = 0
  const results = opened.map(({ asking, first }) => {
    if (first.done) return first.value
    const own = settled.slice(from, from + first.value.items.length)
    from += own.length
    return asking.next(own).value
  })
  return results as never // each is the return value of the asking at its place
}

function* ask1(item: AskItem): AskGenerator<HandedAnswer> {
  const settled = (yield { type: 'asks', items: [item] }) as readonly [HandedAnswer] // the driver's reply, one per item
  return settled[0]
}

/** Why an ask was not granted, as a sentence; or the end of the turn, where the agent chose so. */
function refused(settled: HandedAnswer, onReject: GeneratorAskOptions['onReject']): string {
  const reason = whyNot(settled)
  if (onReject === 'cancel') throw new TurnCancelled(reason)
  return reason
}
function whyNot(settled: HandedAnswer): string {
  switch (settled.kind) {
    case 'nobody':
      return nobodyAnswered
    case 'unknown':
      return unknownOutcome
    case 'agent':
      return `The request is no longer asked: ${settled.reason}.`
    case 'answer':
      return reasonOf(settled.answer) ?? settled.request.resolution?.reason ?? defaultDenyReason
  }
}
function reasonOf(answer: Answer): string | undefined {
  return answer.kind === 'deny' || answer.kind === 'decline' ? answer.reason : undefined
}

function question(draft: QuestionDraft, index: number): Question {
  return {
    id: draft.id ?? `q${index + 1}`,
    header: draft.header ?? '',
    question: draft.question,
    options: (draft.options ?? []).map(option => (typeof option === 'string' ? { label: option } : option)),
    multiSelect: draft.multiSelect ?? false,
    allowOther: draft.allowOther ?? false,
    secret: draft.secret ?? false,
  }
}
function labelOf(item: string | ChoiceOption): string {
  return typeof item === 'string' ? item : item.label
}

export function refuse(what: string, path: string, message: string): Fault {
  return new Fault('bad_input', `${what} is not valid: ${path}: ${message}`, { issues: [{ path, message }] })
}
function checkPrompt(what: string, prompt: unknown): void {
  if (typeof prompt !== 'string') throw refuse(what, 'prompt', 'must be text')
  if (prompt.trim() === '') throw refuse(what, 'prompt', 'must not be empty')
}

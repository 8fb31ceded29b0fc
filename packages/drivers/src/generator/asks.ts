/** The asks of generator agents, for example `const answer = yield* approval('Delete 3 files?')`. `AgentSession.open` validates every ask before it opens a request. */
import {
  type Approval,
  type ApprovalFields,
  type AskDraft,
  approvalAsk,
  approvalOf,
  checkPrompt,
  type HandedAnswer,
  inputFault,
  reasonNotGranted,
} from '@holdpoint/client'
import type { FormAsk, JsonObject, OnDeadline, Question, QuestionAnswer } from '@holdpoint/protocol'

/** Thrown inside an agent to end its turn. The turn's events stay in the session's log. */
export class TurnCancelled extends Error {
  override readonly name = 'TurnCancelled'
}
export function cancelTurn(reason = 'The agent ended the turn.'): never {
  throw new TurnCancelled(reason)
}

export interface AskItem {
  readonly ask: AskDraft
  readonly agentPath?: readonly string[] | undefined
  readonly deadlineMs?: number | undefined
  readonly onDeadline?: OnDeadline | undefined
}
/** The value that an ask yields to the driver. The driver replies with one `HandedAnswer` per item. */
export interface AsksYield {
  readonly type: 'asks'
  readonly items: readonly AskItem[]
}
export type AskGenerator<T> = Generator<AsksYield, T, unknown>

export interface GeneratorAskOptions {
  /** The names of the subagent that asks and of the subagents above it, outermost first. */
  readonly agentPath?: readonly string[]
  readonly deadlineMs?: number
  readonly onDeadline?: OnDeadline
  /** With `cancel`, the turn ends if the ask is denied or declined or ends without an answer. By default, the agent continues: `approval` returns the reason, and the other asks return null. A function is called with the reason, or with what the person asks back, and the agent continues. It is called again when the turn is replayed. */
  readonly onReject?: 'cancel' | 'continue' | ((reason: string) => void)
}
export interface ApprovalOptions extends GeneratorAskOptions, ApprovalFields {}

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

/** Asks a person to allow an action. */
export function* approval(prompt: string, options: ApprovalOptions = {}): AskGenerator<Approval> {
  const { agentPath, deadlineMs, onDeadline, onReject, ...fields } = options
  const handed = yield* askOne({ ask: approvalAsk(prompt, fields), agentPath, deadlineMs, onDeadline })
  const result = approvalOf(handed)
  if (!result.allowed) notGranted(handed, onReject)
  return result
}

/** Asks for one of several choices. Returns the chosen item of `choices` and its index, or null if the person declined or did not answer. */
export function* choice<const C extends string | ChoiceOption>(
  prompt: string,
  choices: readonly C[],
  options: GeneratorAskOptions = {},
): AskGenerator<{ readonly index: number; readonly value: C } | null> {
  checkPrompt('choice', prompt)
  if (!Array.isArray(choices) || choices.length === 0)
    throw inputFault('choice', 'choices', 'must be a list with at least one choice')
  const draft: QuestionDraft = { id: 'choice', question: prompt, options: choices }
  const answers = yield* questions([draft], options)
  const chosen = answers?.[0]?.chosen[0]
  const index = choices.findIndex(item => labelOf(item) === chosen)
  const value = choices[index]
  return value === undefined ? null : { index, value }
}

/** Asks for text. Returns null if the person declined or did not answer. The gateway masks a secret answer after the agent has received it. */
export function* text(
  prompt: string,
  { secret = false, ...options }: GeneratorAskOptions & { readonly secret?: boolean } = {},
): AskGenerator<string | null> {
  checkPrompt('text', prompt)
  const answers = yield* questions([{ id: 'text', question: prompt, allowOther: true, secret }], options)
  return answers?.[0]?.other ?? null
}

/** Asks several questions in one request. Returns one answer per question (null for a question that was left out), or null if the person declined or did not answer. */
export function* questions(
  drafts: readonly QuestionDraft[],
  { onReject, ...options }: GeneratorAskOptions = {},
): AskGenerator<readonly (QuestionAnswer | null)[] | null> {
  if (!Array.isArray(drafts) || drafts.length === 0)
    throw inputFault('questions', 'questions', 'must be a list with at least one question')
  const full = drafts.map(question)
  const handed = yield* askOne({ ask: { kind: 'questions', questions: full }, ...options })
  if (handed.kind !== 'answer' || handed.answer.kind !== 'answers') {
    notGranted(handed, onReject)
    return null
  }
  const { answers } = handed.answer
  return full.map(({ id }) => answers.find(answer => answer.id === id) ?? null)
}

/** Shows a form. Returns its values, or null if the person declined or did not answer. */
export function* form(
  draft: FormDraft,
  { onReject, ...options }: GeneratorAskOptions = {},
): AskGenerator<JsonObject | null> {
  const handed = yield* askOne({ ask: { kind: 'form', message: '', ...draft }, ...options })
  if (handed.kind === 'answer' && handed.answer.kind === 'submit') return handed.answer.values
  notGranted(handed, onReject)
  return null
}

/** Opens several asks at once. People can answer them in any order. Returns the results when all asks are resolved. */
export function* all<const A extends readonly AskGenerator<unknown>[]>(
  asks: A,
): AskGenerator<{ readonly [K in keyof A]: A[K] extends AskGenerator<infer T> ? T : never }> {
  if (asks.length === 0) throw inputFault('all', 'asks', 'must have at least one ask')
  const opened = asks.map(generator => ({ generator, first: generator.next() }))
  if (opened.some(({ first }) => !first.done && first.value?.type !== 'asks'))
    throw inputFault('all', 'asks', 'must contain only asks')
  const items = opened.flatMap(({ first }) => (first.done ? [] : first.value.items))
  const handed = (yield { type: 'asks', items }) as readonly HandedAnswer[] // the driver replies with one answer per item
  let from = 0
  const results = opened.map(({ generator, first }) => {
    if (first.done) return first.value
    const own = handed.slice(from, from + first.value.items.length)
    from += own.length
    return generator.next(own).value
  })
  return results as never // each result is the return value of the ask at the same index
}

function* askOne(item: AskItem): AskGenerator<HandedAnswer> {
  const handed = (yield { type: 'asks', items: [item] }) as readonly [HandedAnswer] // the driver replies with one answer per item
  return handed[0]
}

/** Returns why the agent did not get the answer that it asked for, or ends the turn if `onReject` is `cancel`. */
function notGranted(handed: HandedAnswer, onReject: GeneratorAskOptions['onReject']): string {
  const reason = reasonNotGranted(handed)
  if (onReject === 'cancel') throw new TurnCancelled(reason)
  if (typeof onReject === 'function') onReject(reason)
  return reason
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

/** Answers several requests at once, and prints what became of each. */
import { labelText } from '@holdpoint/client'
import {
  type Answer,
  type Call,
  Fault,
  limits,
  type Output as OperationOutput,
  type Request,
  type RequestId,
} from '@holdpoint/protocol'
import { exitCodeOf, exitCodes } from '../exit-codes.ts'
import { printNotice } from '../output/notice.ts'
import { out } from '../output/output.ts'
import { explainRefusal, resolvedFault, resultRow } from './submit-answer.ts'
import { allowTexts } from './texts.ts'

type AnswerResult = OperationOutput<'answerRequests'>['items'][number]

export class AnswerResults {
  readonly #call: Call
  readonly #json: boolean
  readonly #results = new Map<RequestId, AnswerResult>()
  readonly #exitCodes = new Map<RequestId, number>()

  /** With `json`, the results are printed at the end, as one object. */
  constructor(call: Call, json = false) {
    this.#call = call
    this.#json = json
  }

  /** Sends the answers, and prints a line for each. */
  async submit(answers: readonly { readonly request: Request; readonly answer: Answer }[]): Promise<void> {
    const { id: me } = await this.#call('whoAmI', {})
    for (let from = 0; from < answers.length; from += limits.batchAnswersMax) {
      const items = answers
        .slice(from, from + limits.batchAnswersMax)
        .map(({ request: { id, digest }, answer }) => ({ id, digest, answer }))
      for (const result of (await this.#call('answerRequests', { items })).items) await this.#add(result, me)
    }
  }
  async #add(result: AnswerResult, me: string): Promise<void> {
    const { id, request, error } = result
    this.#results.set(id, result)
    if (error) return this.#fail(id, explainRefusal(new Fault(error.code, error.message, error.detail), id))
    this.#exitCodes.set(id, 0)
    // A long reply leaves out the requests.
    if (!this.#json) out.print(resultRow(request ?? (await this.#call('getRequest', { id })), me))
  }

  /** Adds a request that was resolved before this command. */
  addResolved(request: Request): void {
    const fault = resolvedFault(request)
    this.#results.set(request.id, { id: request.id, status: fault.status, ...fault.toJSON() })
    this.#fail(request.id, fault)
  }
  #fail(id: RequestId, fault: Fault): void {
    printNotice(labelText(fault.message))
    this.#exitCodes.set(id, exitCodeOf(fault))
  }
  /** Adds a request that was not answered, because the person did not confirm the answer. */
  addUnconfirmed({ id }: Request): void {
    printNotice(allowTexts.notConfirmed(id))
    this.#exitCodes.set(id, exitCodes.failed)
  }

  /** Sets the exit code: 0, or that of the first of these requests that was not answered. */
  finish(requests: readonly Request[]): void {
    if (this.#json) out.json({ items: requests.flatMap(({ id }) => this.#results.get(id) ?? []) })
    process.exitCode = requests.map(({ id }) => this.#exitCodes.get(id) ?? 0).find(code => code !== 0) ?? 0
  }
}

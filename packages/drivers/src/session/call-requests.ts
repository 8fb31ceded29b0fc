/** The requests of the calls of one session: opens a request for each call, waits for its resolution, commits `handed`, gives the answer to the agent and reports the delivery. The session loop decides when. */
import { type Ask, Fault } from '@holdpoint/protocol'
import type { AgentCall, AnswerEffects, CallAnswer } from './agent-connection.ts'
import type { AgentSession } from './agent-session.ts'
import { type CarriedRequests, callKey } from './carried-requests.ts'
import type { CallEffect, LoopEvent } from './loop-state.ts'
import type { HandedAnswer, OpenRequest } from './open-request.ts'

interface CallRecord {
  readonly call: AgentCall
  readonly key: string
  readonly ask: Ask
  request?: OpenRequest
  handed?: HandedAnswer | undefined
  /** Set when the agent has aborted the call. Resolves to true if its process ends, so that the request must stay open. */
  aborted?: Promise<boolean>
}

export interface CallRequestsOptions {
  readonly session: AgentSession
  readonly dispatch: (event: LoopEvent) => void
  /** Gives an answer to the agent. */
  readonly answer: (call: string, answer: CallAnswer) => Promise<AnswerEffects>
  readonly onEffects: (effects: AnswerEffects) => void
  /** Called with an error that is no fault, or that a caller cannot handle. */
  readonly onError: (error: unknown) => void
}

export class CallRequests {
  readonly #options: CallRequestsOptions
  readonly #records = new Map<string, CallRecord>()
  readonly #reports = new Set<Promise<void>>()

  constructor(options: CallRequestsOptions) {
    this.#options = options
  }

  /** Remembers a call before its request is opened. A call that is known keeps its request. */
  add(call: AgentCall, carried: CarriedRequests): void {
    if (this.#records.has(call.id)) return
    const earlier = carried.take(call.id, call.ask)
    const isSame = earlier && (call.repeats ?? (ask => callKey(ask) === callKey(call.ask)))(earlier.ask)
    // The earlier ask has the digest that a person may have answered.
    this.#records.set(call.id, { call, key: earlier?.key ?? call.id, ask: isSame ? earlier.ask : call.ask })
  }

  /** Resolves when all deliveries so far are reported. */
  async reported(): Promise<void> {
    await Promise.all(this.#reports)
  }

  carryOut({ type, id }: CallEffect): void {
    const record = this.#records.get(id)
    if (!record) return
    switch (type) {
      case 'openRequest':
        this.#guard(id, this.#open(record))
        break
      case 'hand':
        this.#guard(id, this.#hand(record))
        break
      case 'giveAnswer':
      case 'repeatAnswer':
        if (record.handed) this.#give(record, record.handed)
        break
      case 'refuseCall':
        this.#refuse(record)
        break
      case 'refuseNewCall':
        this.#refuse(record)
        this.#records.delete(id)
        break
      case 'withdraw':
        this.#report(record, record.request?.withdraw())
        break
      case 'reportTaken':
        this.#report(record, record.handed?.taken())
        break
      case 'reportDropped':
        this.#report(record, record.handed?.dropped())
    }
  }

  /** Call this when the agent aborts a call. */
  abort(id: string, isExiting: () => Promise<boolean>): void {
    const record = this.#records.get(id)
    if (!record || record.aborted) return
    record.aborted = isExiting().catch(() => false)
    void record.aborted.then(exits => {
      if (!exits) this.#options.dispatch({ type: 'callAborted', id })
    })
  }

  async #open(record: CallRecord): Promise<void> {
    const { session, dispatch } = this.#options
    const { key, ask, call } = record
    const { agentPath, deadlineMs, onDeadline } = call
    const options = {
      ...(agentPath === undefined ? {} : { agentPath }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(onDeadline === undefined ? {} : { onDeadline }),
    }
    const [request] = await session.open([{ ask, key, ...options }])
    if (!request) throw new Error('open() returned no request for one ask')
    record.request = request
    dispatch({ type: 'requestOpened', id: call.id })
    await request.resolved()
    if (!(await record.aborted)) dispatch({ type: 'callResolved', id: call.id })
  }

  async #hand(record: CallRecord): Promise<void> {
    record.handed = await record.request?.hand()
    this.#options.dispatch({ type: 'callHanded', id: record.call.id })
  }

  /** Tells the agent that its call is refused, because the turn was interrupted. */
  #refuse({ call, key, ask }: CallRecord): void {
    const refusal = { kind: 'agent', reason: 'interrupted', key, ask, replayed: false } as const
    // The agent may have exited, and nobody waits for the effects of an interrupted call.
    this.#options.answer(call.id, refusal).catch(() => {})
  }

  #give({ call, key, ask }: CallRecord, handed: HandedAnswer): void {
    const { dispatch, answer, onEffects, onError } = this.#options
    const { request: _request, taken: _taken, dropped, ...outcome } = handed
    answer(call.id, { ...outcome, key, ask }).then(onEffects, () => {
      this.#records.delete(call.id)
      dispatch({ type: 'callFailed', id: call.id })
      dropped().catch(onError)
    })
  }

  /** If nobody can be asked, the call must not run: the agent is told so. */
  #guard(id: string, work: Promise<void>): void {
    const { session, dispatch, answer, onEffects, onError } = this.#options
    work.catch((error: unknown) => {
      if (session.signal.aborted) return
      if (!(error instanceof Fault)) return onError(error)
      const record = this.#records.get(id)
      this.#records.delete(id)
      dispatch({ type: 'callFailed', id })
      if (!record) return
      const { key, ask } = record
      answer(id, { kind: 'notAsked', problem: error.message, key, ask, replayed: false }).then(onEffects, () => {})
    })
  }

  #report({ call }: CallRecord, report: Promise<void> | undefined): void {
    this.#records.delete(call.id)
    const reported = Promise.resolve(report).finally(() => this.#reports.delete(reported))
    this.#reports.add(reported)
    // The caller of `reported` gets the error. If nobody calls it, the rejection must not count as unhandled.
    reported.catch(() => {})
  }
}

/** Handles the requests of one session's calls: opens a request for each call, waits for its resolution, commits `handed`, gives the answer to the agent and reports the delivery. The session loop decides when. */

import type { AgentSession, HandedAnswer, OpenRequest } from '@holdpoint/client'
import { type Ask, Fault } from '@holdpoint/protocol'
import type { AgentCall, AnswerEffects, CallAnswer } from './agent-connection.ts'
import { type CarriedRequests, callKey } from './carried-requests.ts'
import { decisionFor } from './decisions.ts'
import type { CallEffect, LoopEvent } from './loop-state.ts'

interface CallRecord {
  readonly call: AgentCall
  readonly key: string
  readonly ask: Ask
  request?: OpenRequest
  handed?: HandedAnswer | undefined
  /** Set when the agent has aborted the call. Resolves to true if the agent's process ends and the request must therefore stay open. */
  aborted?: Promise<boolean>
}

export interface CallRequestsOptions {
  readonly session: AgentSession
  readonly dispatch: (event: LoopEvent) => void
  /** Gives an answer to the agent. */
  readonly answer: (call: string, answer: CallAnswer) => Promise<AnswerEffects>
  readonly onEffects: (effects: AnswerEffects) => void
  /** Called with an error that is not a Fault, or that a caller cannot handle. */
  readonly onError: (error: unknown) => void
}

export class CallRequests {
  readonly #options: CallRequestsOptions
  readonly #records = new Map<string, CallRecord>()
  readonly #openings = new Set<Promise<unknown>>()
  readonly #reports = new Set<Promise<void>>()

  constructor(options: CallRequestsOptions) {
    this.#options = options
  }

  /** Remembers a call before its request is opened. A call that is already known keeps its request. */
  add(call: AgentCall, carried: CarriedRequests): void {
    if (this.#records.has(call.id)) return
    const earlier = carried.take(call.id, call.ask)
    const isSame = earlier && (call.repeats ?? (ask => callKey(ask) === callKey(call.ask)))(earlier.ask)
    // Keep the earlier ask, because a person may already have answered its digest.
    this.#records.set(call.id, { call, key: earlier?.key ?? call.id, ask: isSame ? earlier.ask : call.ask })
  }

  /** Resolves when all deliveries so far are reported. */
  async reported(): Promise<void> {
    await Promise.all(this.#reports)
  }

  /** Resolves when no request is being opened and all deliveries are reported. The requests of abandoned calls are withdrawn by then. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#openings)
    await this.reported()
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
    const opening = this.#openRequest(record)
    this.#openings.add(opening)
    const request = await opening.finally(() => this.#openings.delete(opening))
    await request.resolved()
    if (!(await record.aborted)) this.#options.dispatch({ type: 'callResolved', id: record.call.id })
  }

  async #openRequest(record: CallRecord): Promise<OpenRequest> {
    const { key, ask, call } = record
    const { agentPath, deadlineMs, onDeadline } = call
    const options = {
      ...(agentPath === undefined ? {} : { agentPath }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(onDeadline === undefined ? {} : { onDeadline }),
    }
    const [request] = await this.#options.session.open([{ ask, key, ...options }])
    if (!request) throw new Error('open() returned no request for one ask')
    record.request = request
    this.#options.dispatch({ type: 'requestOpened', id: call.id })
    return request
  }

  async #hand(record: CallRecord): Promise<void> {
    record.handed = await record.request?.hand()
    this.#options.dispatch({ type: 'callHanded', id: record.call.id })
  }

  /** Tells the agent that its call is refused, because the turn was interrupted. */
  #refuse({ call, key, ask }: CallRecord): void {
    const refusal = { kind: 'agent', reason: 'interrupted', key, ask, replayed: false } as const
    // Ignore an error, because the agent may have exited. The effects of an interrupted call are not needed.
    this.#options.answer(call.id, refusal).catch(() => {})
  }

  #give({ call, key, ask }: CallRecord, handed: HandedAnswer): void {
    const { dispatch, answer, onEffects, onError } = this.#options
    const { request: _request, taken: _taken, dropped, ...outcome } = handed
    // The gateway ends the requests of an interrupted turn before the loop gets the interrupt.
    if (outcome.kind === 'agent' && outcome.reason === 'interrupted')
      dispatch({ type: 'endingChosen', ending: 'interrupted', isStop: false })
    const given = { ...outcome, key, ask }
    const isStop = decisionFor(given)?.stopsTurn ?? false
    const onGiven = (effects: AnswerEffects) => {
      if (isStop) dispatch({ type: 'endingChosen', ending: effects.turnEnding ?? 'interrupted', isStop })
      onEffects(effects)
    }
    answer(call.id, given).then(onGiven, () => {
      this.#records.delete(call.id)
      dispatch({ type: 'callFailed', id: call.id })
      dropped().catch(onError)
    })
  }

  /** If a request cannot be opened or handed, tells the agent that nobody could be asked, so that the call does not run. */
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
      // Ignore an error, because an agent that cannot be reached does not run the call.
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

/** The transition tables of requests and sessions. They are total: every state has an entry for every trigger, and no code changes a state in any other way. */
import type { DeliveryState, SessionState } from '@holdpoint/protocol'

/** `pending`, or the delivery state of a resolved request. */
export type RequestState = 'pending' | DeliveryState
export type RequestTrigger =
  // A person, a rule or the deadline resolves the request.
  | 'answer'
  | 'rule'
  | 'deadline'
  // The agent's side resolves the request.
  | 'withdraw'
  | 'interrupt'
  | 'end'
  // The agent reports that it is done, which shows that it has used the answers that were handed to it.
  | 'finish'
  | 'agentLost'
  // The agent's side reports the delivery of the resolution.
  | 'hand'
  | 'take'
  | 'markUnknown'
  | 'markUndeliverable'
  // The store lost events, so the agent may have used an allow since.
  | 'storeLost'

/**
 * The next state, or:
 * - `stay`: nothing changes, and the caller gets no error
 * - `alreadyResolved`: refused with a Fault that says how the request was resolved
 * - `refuse`: not possible in this state
 * - `handAgain`: the answer is handed again unless it is an allow (G5)
 */
export type RequestTransition = RequestState | 'stay' | 'alreadyResolved' | 'refuse' | 'handAgain'

export const requestTransitions: Readonly<Record<RequestState, Readonly<Record<RequestTrigger, RequestTransition>>>> = {
  pending: {
    answer: 'waiting',
    rule: 'waiting',
    deadline: 'waiting',
    withdraw: 'taken',
    interrupt: 'taken',
    end: 'taken',
    finish: 'taken',
    agentLost: 'taken',
    hand: 'refuse',
    take: 'refuse',
    markUnknown: 'stay',
    markUndeliverable: 'refuse',
    storeLost: 'stay',
  },
  waiting: {
    answer: 'alreadyResolved',
    rule: 'stay',
    deadline: 'stay',
    withdraw: 'undeliverable',
    interrupt: 'undeliverable',
    end: 'undeliverable',
    finish: 'undeliverable',
    agentLost: 'undeliverable',
    hand: 'handed',
    take: 'refuse',
    markUnknown: 'stay',
    markUndeliverable: 'undeliverable',
    storeLost: 'unknown',
  },
  handed: {
    answer: 'alreadyResolved',
    rule: 'stay',
    deadline: 'stay',
    withdraw: 'stay',
    interrupt: 'stay',
    end: 'unknown',
    finish: 'taken',
    agentLost: 'unknown',
    hand: 'stay',
    take: 'taken',
    markUnknown: 'unknown',
    markUndeliverable: 'undeliverable',
    storeLost: 'unknown',
  },
  taken: {
    answer: 'alreadyResolved',
    rule: 'stay',
    deadline: 'stay',
    withdraw: 'stay',
    interrupt: 'stay',
    end: 'stay',
    finish: 'stay',
    agentLost: 'stay',
    hand: 'refuse',
    take: 'stay',
    markUnknown: 'stay',
    markUndeliverable: 'refuse',
    storeLost: 'stay',
  },
  unknown: {
    answer: 'alreadyResolved',
    rule: 'stay',
    deadline: 'stay',
    withdraw: 'stay',
    interrupt: 'stay',
    end: 'stay',
    finish: 'stay',
    agentLost: 'stay',
    hand: 'handAgain',
    take: 'taken',
    markUnknown: 'stay',
    markUndeliverable: 'refuse',
    storeLost: 'stay',
  },
  undeliverable: {
    answer: 'alreadyResolved',
    rule: 'stay',
    deadline: 'stay',
    withdraw: 'stay',
    interrupt: 'stay',
    end: 'stay',
    finish: 'stay',
    agentLost: 'stay',
    hand: 'refuse',
    take: 'refuse',
    markUnknown: 'stay',
    markUndeliverable: 'stay',
    storeLost: 'stay',
  },
}

export type SessionTrigger =
  // A runner or an external agent takes the lease.
  | 'attach'
  // The agent starts or finishes a turn.
  | 'startTurn'
  | 'finishTurn'
  // The runner detaches and leaves the session parked or ended.
  | 'park'
  | 'finish'
  // The lease of the runner or of the external agent expired, or a newer incarnation replaced the runner.
  | 'runnerLost'
  // The agent did nothing in `limits.idleAttachesMax` consecutive attaches.
  | 'tooManyIdleAttaches'
  // A person acts on the session.
  | 'message'
  | 'interrupt'
  | 'stop'
  | 'delete'

/**
 * The next state, or:
 * - `stay`: nothing changes
 * - `resume`: `working` if a turn is open, else `idle`
 * - `parkOrEnd`: `disconnected` if the agent is external, `parked` if the driver can resume, else `ended` as lost
 * - `reopen`: `parked` if the driver can resume, else refused
 * - `refuse`: not possible in this state
 * - `delete`: the session and its history are deleted
 */
export type SessionTransition = SessionState | 'stay' | 'resume' | 'parkOrEnd' | 'reopen' | 'refuse' | 'delete'

export const sessionTransitions: Readonly<Record<SessionState, Readonly<Record<SessionTrigger, SessionTransition>>>> = {
  starting: {
    attach: 'resume',
    startTurn: 'working',
    finishTurn: 'idle',
    park: 'parked',
    finish: 'ended',
    runnerLost: 'stay',
    tooManyIdleAttaches: 'ended',
    message: 'stay',
    interrupt: 'stay',
    stop: 'ended',
    delete: 'refuse',
  },
  working: {
    attach: 'stay',
    startTurn: 'stay',
    finishTurn: 'idle',
    park: 'parked',
    finish: 'ended',
    runnerLost: 'parkOrEnd',
    tooManyIdleAttaches: 'ended',
    message: 'stay',
    interrupt: 'stay',
    stop: 'ended',
    delete: 'refuse',
  },
  idle: {
    attach: 'stay',
    startTurn: 'working',
    finishTurn: 'stay',
    park: 'parked',
    finish: 'ended',
    runnerLost: 'parkOrEnd',
    tooManyIdleAttaches: 'ended',
    message: 'stay',
    interrupt: 'stay',
    stop: 'ended',
    delete: 'refuse',
  },
  parked: {
    attach: 'resume',
    startTurn: 'working',
    finishTurn: 'idle',
    park: 'stay',
    finish: 'ended',
    runnerLost: 'stay',
    tooManyIdleAttaches: 'ended',
    message: 'stay',
    interrupt: 'stay',
    stop: 'ended',
    delete: 'refuse',
  },
  disconnected: {
    attach: 'resume',
    startTurn: 'working',
    finishTurn: 'idle',
    park: 'stay',
    finish: 'ended',
    runnerLost: 'stay',
    tooManyIdleAttaches: 'ended',
    message: 'stay',
    interrupt: 'stay',
    stop: 'ended',
    delete: 'refuse',
  },
  ended: {
    attach: 'refuse',
    startTurn: 'refuse',
    finishTurn: 'refuse',
    park: 'stay',
    finish: 'stay',
    runnerLost: 'stay',
    tooManyIdleAttaches: 'stay',
    message: 'reopen',
    interrupt: 'refuse',
    stop: 'stay',
    delete: 'delete',
  },
}

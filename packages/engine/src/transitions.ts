/** The life of a request and of a session, as total tables: every state × every command has a named cell, and there is no other path. */
import type { DeliveryState, SessionState } from '@holdpoint/protocol'

/** A request is pending, or resolved and somewhere on its way to the agent. */
export type RequestState = 'pending' | DeliveryState
export type RequestTrigger =
  | 'answer'
  | 'rule'
  | 'deadline' // a person, a rule, the clock resolve it
  | 'withdraw'
  | 'interrupt'
  | 'end'
  | 'lose' // the agent's side resolves it
  | 'hand'
  | 'take' // the resolution goes to the agent
  | 'doubt' // whoever had it in hand is gone
  | 'drop' // the agent's side says it cannot be delivered

/**
 * A state to move to, or:
 * `stay`: nothing changes, and that is right; `winner`: refused, and told who won; `refuse`: this cannot be asked for now;
 * `again`: handed once more, unless it is an allow (G5).
 */
export type RequestTransition = RequestState | 'stay' | 'winner' | 'refuse' | 'again'

export const requestTransitions: Readonly<Record<RequestState, Readonly<Record<RequestTrigger, RequestTransition>>>> = {
  pending: {
    answer: 'waiting',
    rule: 'waiting',
    deadline: 'waiting',
    withdraw: 'taken',
    interrupt: 'taken',
    end: 'taken',
    lose: 'taken',
    hand: 'refuse',
    take: 'refuse',
    doubt: 'stay',
    drop: 'refuse',
  },
  waiting: {
    answer: 'winner',
    rule: 'stay',
    deadline: 'stay',
    withdraw: 'undeliverable',
    interrupt: 'undeliverable',
    end: 'undeliverable',
    lose: 'undeliverable',
    hand: 'handed',
    take: 'refuse',
    doubt: 'stay',
    drop: 'undeliverable',
  },
  handed: {
    answer: 'winner',
    rule: 'stay',
    deadline: 'stay',
    withdraw: 'stay',
    interrupt: 'stay',
    end: 'unknown',
    lose: 'unknown',
    hand: 'stay',
    take: 'taken',
    doubt: 'unknown',
    drop: 'undeliverable',
  },
  taken: {
    answer: 'winner',
    rule: 'stay',
    deadline: 'stay',
    withdraw: 'stay',
    interrupt: 'stay',
    end: 'stay',
    lose: 'stay',
    hand: 'refuse',
    take: 'stay',
    doubt: 'stay',
    drop: 'refuse',
  },
  unknown: {
    answer: 'winner',
    rule: 'stay',
    deadline: 'stay',
    withdraw: 'stay',
    interrupt: 'stay',
    end: 'stay',
    lose: 'stay',
    hand: 'again',
    take: 'taken',
    doubt: 'stay',
    drop: 'refuse',
  },
  undeliverable: {
    answer: 'winner',
    rule: 'stay',
    deadline: 'stay',
    withdraw: 'stay',
    interrupt: 'stay',
    end: 'stay',
    lose: 'stay',
    hand: 'refuse',
    take: 'refuse',
    doubt: 'stay',
    drop: 'stay',
  },
}

export type SessionTrigger =
  | 'attach' // a runner takes the lease
  | 'begin'
  | 'settle' // a turn begins, a turn has finished
  | 'park'
  | 'finish' // the runner gives it back: to go on later, or for good
  | 'lose' // the runner is gone
  | 'giveUp' // it was brought back too often for nothing
  | 'message'
  | 'interrupt'
  | 'stop'
  | 'delete' // people

/**
 * A state to move to, or:
 * `stay`; `revive`: working where a turn is open, else idle; `parkOrEnd`: parked where the driver can resume, else ended as lost;
 * `reopen`: parked where the driver can resume, else refused; `refuse`; `erase`.
 */
export type SessionTransition = SessionState | 'stay' | 'revive' | 'parkOrEnd' | 'reopen' | 'refuse' | 'erase'

export const sessionTransitions: Readonly<Record<SessionState, Readonly<Record<SessionTrigger, SessionTransition>>>> = {
  starting: {
    attach: 'revive',
    begin: 'working',
    settle: 'idle',
    park: 'parked',
    finish: 'ended',
    lose: 'stay',
    giveUp: 'ended',
    message: 'stay',
    interrupt: 'stay',
    stop: 'ended',
    delete: 'refuse',
  },
  working: {
    attach: 'stay',
    begin: 'stay',
    settle: 'idle',
    park: 'parked',
    finish: 'ended',
    lose: 'parkOrEnd',
    giveUp: 'ended',
    message: 'stay',
    interrupt: 'stay',
    stop: 'ended',
    delete: 'refuse',
  },
  idle: {
    attach: 'stay',
    begin: 'working',
    settle: 'stay',
    park: 'parked',
    finish: 'ended',
    lose: 'parkOrEnd',
    giveUp: 'ended',
    message: 'stay',
    interrupt: 'stay',
    stop: 'ended',
    delete: 'refuse',
  },
  parked: {
    attach: 'revive',
    begin: 'working',
    settle: 'idle',
    park: 'stay',
    finish: 'ended',
    lose: 'stay',
    giveUp: 'ended',
    message: 'stay',
    interrupt: 'stay',
    stop: 'ended',
    delete: 'refuse',
  },
  ended: {
    attach: 'refuse',
    begin: 'refuse',
    settle: 'refuse',
    park: 'stay',
    finish: 'stay',
    lose: 'stay',
    giveUp: 'stay',
    message: 'reopen',
    interrupt: 'refuse',
    stop: 'stay',
    delete: 'erase',
  },
}

/** The state of the session loop, what can happen to it, and what the loop must do. The transitions are in loop-transitions.ts. */
import type { CloseReason } from './agent-connection.ts'

/**
 * - `noProcess`: the agent has no process, and no turn is under way
 * - `starting`: a turn is being prepared, or its process is not ready yet
 * - `inTurn`: a turn runs, and no call waits for an answer
 * - `waiting`: a turn runs, and at least one call waits for an answer
 * - `resting`: the process is ready, and no turn runs
 * - `stopping`: the session is being released
 */
export type LoopPhase = 'noProcess' | 'starting' | 'inTurn' | 'waiting' | 'resting' | 'stopping'

export interface LoopTurn {
  /** The origin of the turn: a message, or the agent itself. */
  readonly source: 'message' | 'agent'
  /** `written` means that the end of the turn is in the log, and only its command is left to finish. */
  readonly stage: 'preparing' | 'running' | 'closing' | 'written'
  readonly isInterrupted: boolean
  /** Whether the agent was busy again when the end was written, so that the log also has the start of the next turn. */
  readonly continues: boolean
}

export interface LoopCall {
  readonly origin: 'main' | 'background'
  /** `opening` until the request is open, `handing` while its answer is committed as handed, `given` when the agent has the answer. */
  readonly stage: 'opening' | 'pending' | 'handing' | 'given'
  /** Whether the agent no longer waits, or a person interrupted the turn. The answer can then no longer be delivered. */
  readonly isAbandoned: boolean
}

export interface LoopState {
  /** How many messages wait for their turn. */
  readonly queued: number
  readonly process: 'none' | 'starting' | 'live' | 'closing'
  readonly turn: LoopTurn | null
  /** Whether the main agent works: it started and has not reported the end. */
  readonly isWorking: boolean
  readonly calls: ReadonlyMap<string, LoopCall>
  /** How many background tasks run, which would end with the process. */
  readonly background: number
  /** How an answer ended the turn, or null if none did. */
  readonly ending: 'cancelled' | 'interrupted' | null
  /** Whether the session is being parked or ended, or the runner stops. */
  readonly isReleasing: boolean
}

export const initialLoopState: LoopState = {
  queued: 0,
  process: 'none',
  turn: null,
  isWorking: false,
  calls: new Map(),
  background: 0,
  ending: null,
  isReleasing: false,
}

export type LoopEvent =
  /** A person's message arrived. */
  | { readonly type: 'messageQueued' }
  /** The loop must resume an open turn of an earlier process. No message started that turn. */
  | { readonly type: 'turnLeftOpen' }
  /** The turn's command is taken and its resume plan is made, so that the agent can start. */
  | { readonly type: 'turnPrepared' }
  /** The turn cannot start, or its command was finished before a crash. */
  | { readonly type: 'turnRefused'; readonly how: 'failed' | 'interrupted' | 'alreadyDone' }
  /** The agent reported that it can take messages, that it works, or that its work is done. */
  | { readonly type: 'ready' }
  | { readonly type: 'turnStarted' }
  /** `isAwaited` says whether the result belongs to the message of the turn, if a message started the turn. */
  | { readonly type: 'turnEnded'; readonly isAwaited: boolean }
  /** The loop writes the end of the turn now. */
  | { readonly type: 'turnWritten' }
  /** The end of the turn is committed and its command is finished. */
  | { readonly type: 'turnClosed' }
  /** The steps of a call: the agent asks; the request is open; the request is resolved; `handed` is committed; the agent has the answer. */
  | { readonly type: 'callOpened'; readonly id: string; readonly origin: LoopCall['origin'] }
  | { readonly type: 'requestOpened'; readonly id: string }
  | { readonly type: 'callResolved'; readonly id: string }
  | { readonly type: 'callHanded'; readonly id: string }
  | { readonly type: 'callTaken'; readonly id: string }
  /** The agent no longer waits, and its process is still running. */
  | { readonly type: 'callAborted'; readonly id: string }
  /** The request could not be opened, or its answer could not be given to the agent. */
  | { readonly type: 'callFailed'; readonly id: string }
  /** An answer ended the turn. `isStop` says that a person also asked the agent to stop. */
  | { readonly type: 'endingChosen'; readonly ending: 'cancelled' | 'interrupted'; readonly isStop: boolean }
  | { readonly type: 'backgroundChanged'; readonly tasks: number }
  /** A call that waits may have become resumable. */
  | { readonly type: 'parkingChanged' }
  /** A call has waited long enough, and can be asked again by a new process. */
  | { readonly type: 'parkTimer' }
  /** The process must not be used for another turn. */
  | { readonly type: 'processSpent'; readonly reason: 'done' | 'stopped' }
  | { readonly type: 'idleTimer' }
  | { readonly type: 'interrupt' }
  /** The agent did not become ready in time, or did not stop its turn in time after an interrupt. */
  | { readonly type: 'stopTimer' }
  | { readonly type: 'modeChange' }
  | { readonly type: 'end' }
  | { readonly type: 'runnerStop' }
  /** The process ended. `isParked` says that the agent ended it on purpose, with requests of its own still open. */
  | { readonly type: 'processExit'; readonly isParked: boolean }

export type LoopEventType = LoopEvent['type']

/** The reason why the turn is over: the agent reported its end, a turn without a result had nothing left to wait for, a person interrupted it, it could not start, or its process was lost. */
export type TurnOver = 'ended' | 'settled' | 'interrupted' | 'failed' | 'lost'

export type LoopEffect =
  /** Take the next message, or resume the open turn, and then report `turnPrepared` or `turnRefused`. */
  | { readonly type: 'prepareMessage' }
  | { readonly type: 'prepareResume' }
  /** Connect, if there is no process, and send the message of the turn. */
  | { readonly type: 'connect' }
  | { readonly type: 'send' }
  /** Follow a turn that the agent started by itself. */
  | { readonly type: 'followTurn' }
  /** Tell people that the agent is still working, although the end of the turn is in the log. */
  | { readonly type: 'sayWorking' }
  | { readonly type: 'closeTurn'; readonly over: TurnOver }
  /** Leave the turn without writing its end: its message was carried out before, the next message joins it, or the session is released. */
  | { readonly type: 'leaveTurn' }
  | CallEffect
  | { readonly type: 'interruptAgent' }
  | { readonly type: 'startStopTimer' }
  | { readonly type: 'startIdleTimer' }
  | { readonly type: 'stopIdleTimer' }
  /** Start, check or stop the park timer, because the calls that wait have changed. */
  | { readonly type: 'updateParkTimer' }
  | { readonly type: 'changeSettings' }
  | { readonly type: 'closeProcess'; readonly reason: CloseReason }
  | { readonly type: 'parkSession' }
  | { readonly type: 'endSession' }
  /** The process was lost with calls that wait: park the session, or end it as lost. */
  | { readonly type: 'releaseLost' }
  /** Tell people that background work was lost with the process. */
  | { readonly type: 'reportLostWork' }

/** The effects on the request of one call. */
export interface CallEffect {
  readonly type:
    | 'openRequest'
    | 'hand'
    | 'giveAnswer'
    /** Give the agent the same answer again, because it asked again. */
    | 'repeatAnswer'
    /** Tell the agent that its call is refused because of an interrupt. `refuseNewCall` is for a call that has no request. */
    | 'refuseCall'
    | 'refuseNewCall'
    | 'withdraw'
    | 'reportTaken'
    | 'reportDropped'
  readonly id: string
}

export interface Transition {
  readonly state: LoopState
  readonly effects: readonly LoopEffect[]
}

/** Calls that are not abandoned. */
export function activeCalls({ calls }: LoopState): readonly (readonly [string, LoopCall])[] {
  return [...calls].filter(([, { isAbandoned }]) => !isAbandoned)
}
/** The ids of the calls that wait for an answer. */
export function waitingCalls(state: LoopState): readonly string[] {
  return activeCalls(state).flatMap(([id, { stage }]) => (stage === 'opening' || stage === 'pending' ? [id] : []))
}
/** Returns whether the main agent works, or any call waits or was answered but not taken. */
export function isBusy(state: LoopState): boolean {
  return state.process !== 'none' && (state.isWorking || activeCalls(state).length > 0)
}

/** Returns whether a person interrupted the turn that runs, so that its calls are refused. */
export function isInterrupted({ turn }: LoopState): boolean {
  return turn?.stage === 'running' && turn.isInterrupted
}

export function phaseOf(state: LoopState): LoopPhase {
  const { turn, process, isReleasing } = state
  if (isReleasing) return 'stopping'
  if (turn?.stage === 'preparing') return 'starting'
  if (turn?.stage === 'running') {
    if (process === 'starting') return 'starting'
    return waitingCalls(state).length > 0 ? 'waiting' : 'inTurn'
  }
  return process === 'none' ? 'noProcess' : 'resting'
}

/** The actions of the session loop: pure functions that return the next state and the effects. The table in loop-transitions.ts says which action belongs to which event. */
import type { CloseReason } from './agent-connection.ts'
import {
  activeCalls,
  isBusy,
  isInterrupted,
  type LoopCall,
  type LoopEffect,
  type LoopEvent,
  type LoopEventType,
  type LoopState,
  type LoopTurn,
  type Transition,
  type TurnOver,
} from './loop-state.ts'

type EventOf<T extends LoopEventType> = Extract<LoopEvent, { readonly type: T }>
type CallEvent = Extract<LoopEvent, { readonly id: string }>

function to(state: LoopState, ...effects: readonly LoopEffect[]): Transition {
  return { state, effects }
}
/** Applies a second action to the result of the first, and keeps the effects of both. */
function then({ state, effects }: Transition, next: (state: LoopState) => Transition): Transition {
  const result = next(state)
  return { state: result.state, effects: [...effects, ...result.effects] }
}

const newTurn = (source: LoopTurn['source'], stage: LoopTurn['stage']): LoopTurn => ({
  ...{ source, stage },
  isInterrupted: false,
  continues: false,
})
function withTurn(state: LoopState, change: Partial<LoopTurn>): LoopState {
  return state.turn ? { ...state, turn: { ...state.turn, ...change } } : state
}
/** If the agent has started a turn while the end of the last turn was being written, the log gets the start of that turn, even if the process has ended by then. */
function withNextTurn(state: LoopState): LoopState {
  return state.turn?.stage === 'closing' && isBusy(state) ? withTurn(state, { continues: true }) : state
}
function withoutProcess(state: LoopState): LoopState {
  return { ...state, process: 'none', isWorking: false, background: 0 }
}
function withCall(state: LoopState, id: string, call: LoopCall | null): LoopState {
  const calls = new Map(state.calls)
  if (call) calls.set(id, call)
  else calls.delete(id)
  return { ...state, calls }
}

const stopIdleTimer: LoopEffect = { type: 'stopIdleTimer' }
const updateParkTimer: LoopEffect = { type: 'updateParkTimer' }
const sayWorking: LoopEffect = { type: 'sayWorking' }
const leaveTurn: LoopEffect = { type: 'leaveTurn' }

/** If there is no turn, starts the next one: the turn of the next message, or the turn that the agent has started by itself. */
function startNextTurn(state: LoopState): Transition {
  if (state.turn) return to(state)
  if (state.queued > 0)
    return to(
      { ...state, queued: state.queued - 1, turn: newTurn('message', 'preparing') },
      ...[stopIdleTimer, { type: 'prepareMessage' } as const],
    )
  if (!isBusy(state)) return to(state, { type: 'startIdleTimer' })
  return followTurn(state)
}

function followTurn(state: LoopState): Transition {
  const followed = { ...state, turn: newTurn('agent', 'running') }
  // The waiting call may have become due for parking while the end of the earlier turn was being written.
  return to(followed, stopIdleTimer, { type: 'followTurn' }, updateParkTimer)
}

/** The agent is busy again. If the end of a turn is already in the log, the start of the next turn follows directly after it. */
function onActivity(state: LoopState): Transition {
  if (state.turn?.stage === 'written' && isBusy(state) && !state.turn.continues)
    return to(withTurn(state, { continues: true }), sayWorking)
  return startNextTurn(state)
}

function closeTurn(state: LoopState, over: TurnOver): Transition {
  return to(withTurn(state, { stage: 'closing' }), { type: 'closeTurn', over })
}

/** Handles the loss of the process. If calls are open, the answer to one of them resumes the session; otherwise the turn is lost. */
function loseTurn(state: LoopState, isParked: boolean): Transition {
  if (!isParked && activeCalls(state).length === 0) return closeTurn(state, 'lost')
  return to({ ...state, turn: null, isReleasing: true }, leaveTurn, { type: 'releaseLost' })
}

function closeProcess(state: LoopState, reason: CloseReason): Transition {
  if (state.process === 'none' || state.process === 'closing') return to(state)
  return to({ ...state, process: 'closing' }, { type: 'closeProcess', reason })
}

/** Handles the loss of the process before the message of the turn was sent. If calls are open, the session is released, and the message is delivered again after an answer has resumed the session. */
function exitBeforeTurn(state: LoopState): Transition {
  const gone = withoutProcess(state)
  return activeCalls(state).length > 0 ? loseTurn(gone, false) : to(gone, ...lossOf(state))
}
/** Returns the effect that tells people about lost work, if nobody has stopped the work and no turn reports the loss. */
function lossOf({ process, background, isWorking }: LoopState): readonly LoopEffect[] {
  return process !== 'closing' && (background > 0 || isWorking) ? [{ type: 'reportLostWork' }] : []
}

/** A turn that consists only of calls of background work ends when none of them is left. */
function closeIfSettled(state: LoopState): Transition {
  const { turn } = state
  const isSettled = turn?.source === 'agent' && turn.stage === 'running' && !isBusy(state)
  return isSettled ? closeTurn(state, 'settled') : to(state)
}

/** Gives up a call whose answer the agent has not received. */
function abandonCall(state: LoopState, id: string): Transition {
  const call = state.calls.get(id)
  if (!call || call.isAbandoned || call.stage === 'given') return to(state)
  // A request that is still being opened is withdrawn once it is open. An answer that is still being handed is dropped once it is handed.
  if (call.stage !== 'pending') return to(withCall(state, id, { ...call, isAbandoned: true }), updateParkTimer)
  return to(withCall(state, id, null), { type: 'withdraw', id }, updateParkTimer)
}

/** Settles the calls of a turn that is over: answers that were given count as taken, and all other calls are abandoned. While background tasks run, this applies only to calls of the main agent. */
function settleCalls(state: LoopState, isAll: boolean): Transition {
  let result = to(state)
  for (const [id, { origin, stage }] of state.calls) {
    if (!isAll && origin !== 'main') continue
    result = then(result, now => (stage === 'given' ? takeCall(now, id) : abandonCall(now, id)))
  }
  return result
}
function takeCall(state: LoopState, id: string): Transition {
  if (state.calls.get(id)?.stage !== 'given') return to(state)
  return to(withCall(state, id, null), { type: 'reportTaken', id }, updateParkTimer)
}

/** Every action that an entry of the table can name. */
export const loopActions = {
  ignore: state => to(state),
  queueMessage: state => to({ ...state, queued: state.queued + 1 }),
  startMessage: state => startNextTurn({ ...state, queued: state.queued + 1 }),
  /** Queues the message. A turn that consists only of calls of background work does not delay the message: the message joins it. */
  joinMessage: state => {
    const queued = { ...state, queued: state.queued + 1 }
    if (state.turn?.source !== 'agent' || state.isWorking) return to(queued)
    if (state.ending !== null || state.turn.isInterrupted) return closeTurn(queued, 'settled')
    return then(to({ ...queued, turn: null }, leaveTurn), startNextTurn)
  },
  resumeTurn: state =>
    state.turn
      ? to(state)
      : to({ ...state, turn: newTurn('agent', 'preparing') }, stopIdleTimer, { type: 'prepareResume' }),
  /** Starts the agent, unless a person interrupted the turn while it was being prepared. */
  startAgent: state => {
    if (state.turn?.stage !== 'preparing') return to(state)
    if (state.turn.isInterrupted) return closeTurn(state, 'interrupted')
    const running = { ...withTurn(state, { stage: 'running' }), isWorking: true }
    if (state.process !== 'none') return to(running, { type: 'send' })
    return to({ ...running, process: 'starting' }, { type: 'connect' }, { type: 'send' })
  },
  refuseTurn: (state, event: EventOf<'turnRefused'>) => {
    if (state.turn?.stage !== 'preparing') return to(state)
    if (event.how === 'alreadyDone') return then(to({ ...state, turn: null }, leaveTurn), startNextTurn)
    return closeTurn(state, event.how)
  },
  markReady: state => (state.process === 'starting' ? to({ ...state, process: 'live' }, updateParkTimer) : to(state)),
  markWorking: state => to({ ...state, isWorking: true }),
  startOwnTurn: state => onActivity({ ...state, isWorking: true }),
  finishTurn: (state, event: EventOf<'turnEnded'>) =>
    then(settleCalls({ ...state, isWorking: false }, state.background === 0), now => {
      if (now.turn?.stage !== 'running') return to(now)
      if (event.isAwaited) return closeTurn(now, 'ended')
      // The interrupt stopped a turn that the agent had started by itself, so the agent would carry out the message next, although the interrupt applies to the message too.
      return now.turn.isInterrupted ? closeProcess(now, 'stopped') : to(now)
    }),
  markWritten: state =>
    state.turn?.stage === 'closing'
      ? to(withTurn({ ...state, ending: null }, { stage: 'written', continues: state.turn.continues || isBusy(state) }))
      : to(state),
  /** Starts the next turn. The log may already contain the start of that turn, although the agent is no longer busy or its process is gone. */
  nextTurn: state => {
    if (state.turn?.stage !== 'written') return to(state)
    const free = { ...state, turn: null }
    if (!state.turn.continues) return startNextTurn(free)
    if (state.process === 'none') return then(followTurn(free), now => loseTurn(now, false))
    if (state.queued > 0 || isBusy(state)) return startNextTurn(free)
    return then(followTurn(free), now => closeTurn(now, 'settled'))
  },
  /** A call of an interrupted turn is refused, because the agent has not seen the interrupt yet. */
  openCall: (state, { id, origin }: EventOf<'callOpened'>) => {
    const known = state.calls.get(id)
    if (known) return to(state, ...(known.stage === 'given' ? [{ type: 'repeatAnswer', id } as const] : []))
    if (isInterrupted(state)) return to(state, { type: 'refuseNewCall', id })
    const opened = withCall(state, id, { origin, stage: 'opening', isAbandoned: false })
    return then(onActivity(opened), now => to(now, { type: 'openRequest', id }))
  },
  markPending: (state, { id }: CallEvent) => {
    const call = state.calls.get(id)
    if (call?.stage !== 'opening') return to(state)
    const pending = withCall(state, id, { ...call, stage: 'pending', isAbandoned: false })
    if (!call.isAbandoned) return to(pending, updateParkTimer)
    return then(abandonCall(pending, id), closeIfSettled)
  },
  /** Hands the answer only while the process can take it. */
  handAnswer: (state, { id }: CallEvent) => {
    const call = state.calls.get(id)
    if (call?.stage !== 'pending' || state.process === 'closing') return to(state)
    return to(withCall(state, id, { ...call, stage: 'handing' }), { type: 'hand', id })
  },
  giveAnswer: (state, { id }: CallEvent) => {
    const call = state.calls.get(id)
    if (call?.stage !== 'handing') return to(state)
    if (!call.isAbandoned)
      return to(withCall(state, id, { ...call, stage: 'given' }), { type: 'giveAnswer', id }, updateParkTimer)
    return then(to(withCall(state, id, null), { type: 'reportDropped', id }), closeIfSettled)
  },
  takeAnswer: (state, { id }: CallEvent) => then(takeCall(state, id), closeIfSettled),
  abandonCall: (state, { id }: CallEvent) => then(abandonCall(state, id), closeIfSettled),
  removeCall: (state, { id }: CallEvent) => then(to(withCall(state, id, null), updateParkTimer), closeIfSettled),
  chooseEnding: (state, { ending, isStop }: EventOf<'endingChosen'>) => {
    const timer: readonly LoopEffect[] = isStop && state.turn?.stage === 'running' ? [{ type: 'startStopTimer' }] : []
    return to({ ...state, ending: state.ending ?? ending }, ...timer)
  },
  setBackground: (state, { tasks }: EventOf<'backgroundChanged'>) => onActivity({ ...state, background: tasks }),
  checkParking: state => to(state, updateParkTimer),
  parkCall: state => closeProcess(state, 'parked'),
  /** Ends a process that must not be used again, once nothing runs in it. */
  endSpent: (state, { reason }: EventOf<'processSpent'>) =>
    isBusy(state) || state.background > 0 ? to(state) : closeProcess(state, reason),
  parkIdle: state => {
    if (state.turn) return to(state)
    // The process is kept, because its background tasks would end with it.
    if (state.background > 0) return to(state, { type: 'startIdleTimer' })
    return then(closeProcess({ ...state, isReleasing: true }, 'idle'), now => to(now, { type: 'parkSession' }))
  },
  interruptTurn: state => {
    let result = to(withTurn(state, { isInterrupted: true }))
    for (const [id, { stage }] of state.turn?.stage === 'running' ? activeCalls(state) : [])
      if (stage !== 'given')
        result = then(result, now => then(to(now, { type: 'refuseCall', id }), last => abandonCall(last, id)))
    const agent: readonly LoopEffect[] = state.process === 'none' ? [] : [{ type: 'interruptAgent' }]
    const timer: readonly LoopEffect[] = state.turn ? [{ type: 'startStopTimer' }] : []
    return then(
      then(result, now => to(now, ...agent, ...timer)),
      closeIfSettled,
    )
  },
  /** If an answer has ended the turn, the turn is not lost: the agent did not stop in time. */
  forceStop: state => {
    if (!state.turn) return to(state)
    return closeProcess(state.ending === null ? state : withTurn(state, { isInterrupted: true }), 'stopped')
  },
  changeSettings: state => to(state, { type: 'changeSettings' }),
  endSession: state =>
    then(closeProcess({ ...state, isReleasing: true }, 'stopped'), now => to(now, { type: 'endSession' })),
  stop: state => closeProcess({ ...state, isReleasing: true }, 'stopped'),
  exitInTurn: (state, event: EventOf<'processExit'>) => {
    const gone = withoutProcess(state)
    if (state.turn?.stage === 'preparing') return exitBeforeTurn(state)
    if (state.turn?.isInterrupted) return then(settleCalls(gone, true), now => closeTurn(now, 'interrupted'))
    return loseTurn(gone, event.isParked)
  },
  exitAtRest: state => {
    const gone = withoutProcess(withNextTurn(state))
    return to(gone, ...(gone.turn?.continues ? [] : lossOf(state)))
  },
  exitWhileStopping: state => {
    const gone = withoutProcess(withNextTurn(state))
    return state.turn?.stage === 'running' ? to({ ...gone, turn: null }, leaveTurn) : to(gone)
  },
  leaveTurn: state => (state.turn ? to({ ...state, turn: null }, leaveTurn) : to(state)),
} satisfies Readonly<Record<string, (state: LoopState, event: never) => Transition>>

export type LoopAction = keyof typeof loopActions

/** Says in sentences for people what would be lost if the agent's process ended now. Idle sessions are parked by the idle timer in session-timers.ts and by `parkIdle` in loop-actions.ts. */
import type { AgentConnection, AgentProtocol } from './agent-connection.ts'
import { loopMessages } from './loop-messages.ts'
import { activeCalls, isBusy, type LoopState, waitingCalls } from './loop-state.ts'

/** Returns why the waiting call could not be asked again if the process ended now, or null if it could. */
export function whyNotParkable(state: LoopState, connection: AgentConnection | undefined): string | null {
  const { nothingPending, several, answerOnItsWay, notMainAgent, background, cannotAskAgain } = loopMessages.notParkable
  const [call, second] = activeCalls(state)
  if (!call) return nothingPending
  if (second) return several
  const [id, { stage, origin }] = call
  if (stage === 'handing' || stage === 'given') return answerOnItsWay
  if (origin !== 'main') return notMainAgent
  if (state.background > 0) return background
  return connection?.parking ? connection.parking.whyNot(id) : cannotAskAgain
}

/** Returns a sentence that says what is lost if the process ends now, or null if everything can be resumed. */
export function unfinishedWork(
  state: LoopState,
  { title }: AgentProtocol,
  connection: AgentConnection | null,
  message: string | undefined,
): string | null {
  const { background, working, outcomeUnknown, notResumable } = loopMessages.unfinished
  const { turn } = state
  if (!connection || connection.isDurable) return null
  const isOver =
    turn === null || (turn.stage === 'closing' && !isBusy(state)) || (turn.stage === 'written' && !turn.continues)
  if (isOver) return state.background > 0 ? background : null
  const hasOpenCalls = activeCalls(state).length > 0
  if (hasOpenCalls && waitingCalls(state).length === 0) return outcomeUnknown
  // A message that the agent has not received will be sent again, and equal calls then get the recorded answers, so nothing is lost.
  if (message !== undefined && connection.hasReceived?.(message) === false) return null
  if (!hasOpenCalls) return working(title)
  const why = whyNotParkable(state, connection)
  return why === null ? null : notResumable(title, why)
}

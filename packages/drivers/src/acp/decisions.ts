/** What an answer means for an agent: whether the call may run, and what the agent must read beside that. */
import { type Answer, type Ask, defaultDenyReason } from '@holdpoint/protocol'
import type { CallAnswer } from '../session/agent-connection.ts'
import { nobodyAnswered, unknownOutcome } from '../session/open-request.ts'
import { acpReads } from './messages.ts'

export interface Decision {
  /** The answer, if it lets the agent go on; null if the call is denied. */
  readonly answer: Extract<Answer, { kind: 'allow' | 'answers' | 'submit' }> | null
  /** Whether the person also wants the turn to stop. */
  readonly stopsTurn: boolean
  /** What the agent must read, because the protocol has no place for it; null if there is nothing. */
  readonly text: string | null
}

/** Returns null if the agent must be told that its call was cancelled, because the turn is being interrupted. */
export function decisionFor(given: CallAnswer): Decision | null {
  const denied = (text: string | null, stopsTurn = false): Decision => ({ answer: null, stopsTurn, text })
  switch (given.kind) {
    case 'agent':
      return null
    case 'unknown':
      return denied(acpReads.about(given.ask, unknownOutcome))
    case 'nobody':
      return denied(acpReads.about(given.ask, nobodyAnswered))
    case 'notAsked':
      return denied(acpReads.notAsked(given.ask, given.problem))
    case 'answer': {
      const { answer, ask, replayed } = given
      // An allow is valid for one run. The agent has already taken this one.
      if (replayed && answer.kind === 'allow') return denied(acpReads.about(ask, unknownOutcome))
      if (answer.kind === 'deny' || answer.kind === 'decline')
        return denied(reasonFor(ask, answer.reason), answer.interrupt === true)
      const note = answer.kind === 'allow' && answer.note ? acpReads.note(ask, answer.note) : null
      return { answer, stopsTurn: false, text: note }
    }
  }
}

/** The agent itself tells its model that the person denied the call. */
function reasonFor(ask: Ask, reason: string | undefined): string | null {
  return reason === undefined || reason === '' || reason === defaultDenyReason ? null : acpReads.denied(ask, reason)
}

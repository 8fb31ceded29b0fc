/** Converts an answer for an agent whose protocol has only yes and no: whether the call may run, and what else the agent must read. */

import { nobodyAnswered, unknownOutcome } from '@holdpoint/client'
import { type Answer, type Ask, defaultDenyReason } from '@holdpoint/protocol'
import type { CallAnswer } from './agent-connection.ts'
import { nameOfAsk } from './ask-titles.ts'
import { agentReads } from './loop-messages.ts'

export interface Decision {
  /** The answer, if it lets the agent continue; null if the call is denied. */
  readonly answer: Extract<Answer, { kind: 'allow' | 'answers' | 'submit' }> | null
  /** Whether the person also wants the turn to stop. */
  readonly stopsTurn: boolean
  /** A text that the agent must read and for which the protocol has no field; null if there is none. */
  readonly text: string | null
}

/** Returns null if the agent must be told that its call was canceled, because the turn is being interrupted. */
export function decisionFor(given: CallAnswer): Decision | null {
  const denied = (text: string | null, stopsTurn = false): Decision => ({ answer: null, stopsTurn, text })
  switch (given.kind) {
    case 'agent':
      return null
    case 'unknown':
      return denied(agentReads.about(nameOfAsk(given.ask), unknownOutcome))
    case 'nobody':
      return denied(agentReads.about(nameOfAsk(given.ask), nobodyAnswered))
    case 'notAsked':
      return denied(agentReads.notAsked(nameOfAsk(given.ask), given.problem))
    case 'answer': {
      const { answer, ask, replayed } = given
      // An allow is valid for one run. The agent has already taken this one.
      if (replayed && answer.kind === 'allow') return denied(agentReads.about(nameOfAsk(ask), unknownOutcome))
      if (answer.kind === 'deny' || answer.kind === 'decline') {
        if (answer.askBack && answer.reason) return denied(agentReads.about(nameOfAsk(ask), answer.reason))
        return denied(reasonFor(ask, answer.reason), answer.interrupt === true)
      }
      const note = answer.kind === 'allow' && answer.note ? agentReads.note(nameOfAsk(ask), answer.note) : null
      return { answer, stopsTurn: false, text: note }
    }
  }
}

/** Returns null if the person gave no reason, because the agent itself tells its model that the person denied the call. */
function reasonFor(ask: Ask, reason: string | undefined): string | null {
  return reason === undefined || reason === '' || reason === defaultDenyReason
    ? null
    : agentReads.denied(nameOfAsk(ask), reason)
}

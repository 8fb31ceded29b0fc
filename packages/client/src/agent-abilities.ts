/** Decides what page and terminal offer, by the capabilities of a session's agent, so that every button has an effect. */
import type { Capability, Session } from '@holdpoint/protocol'

/** The ways to answer a request in addition to a plain yes or no. */
export interface AnswerChoices {
  /** Whether the agent reads the note of an allow. */
  readonly note: boolean
  /** Whether the agent runs an edited input. */
  readonly edit: boolean
  /** Whether a person can also stop the turn when they deny or decline. False if a plain denial stops the turn anyway. */
  readonly stop: { readonly deny: boolean; readonly decline: boolean }
  /** Whether the agent ends its turn after a denial, so that its model reads the reason with the next message. */
  readonly denialEndsTurn: boolean
  /** Whether a person can ask back. The agent must be able to answer in the same turn. */
  readonly askBack: boolean
}

const allChoices: AnswerChoices = {
  note: true,
  edit: true,
  stop: { deny: true, decline: true },
  denialEndsTurn: false,
  askBack: true,
}

/** A driver that does not report `approvals` is unknown or of an earlier version, so everything is offered. */
export function answerChoices(capabilities: readonly Capability[] | undefined): AnswerChoices {
  if (!capabilities?.includes('approvals')) return allChoices
  const has = (capability: Capability) => capabilities.includes(capability)
  return {
    note: has('note'),
    edit: has('editInput'),
    stop: { deny: has('interrupt') && has('denyAndContinue'), decline: has('interrupt') },
    denialEndsTurn: !has('denyAndContinue'),
    askBack: has('denyAndContinue'),
  }
}

/** A session that waits for its first runner has no capabilities yet; its messages wait too. */
export function acceptsMessages({ capabilities }: Pick<Session, 'capabilities'>): boolean {
  return capabilities.length === 0 || capabilities.includes('messages')
}
export function isInterruptible({ capabilities }: Pick<Session, 'capabilities'>): boolean {
  return capabilities.length === 0 || capabilities.includes('interrupt')
}

/** Returns a sentence for a session whose agent does not have every tool call checked; null for others. */
export function rulesNotice({ capabilities }: Pick<Session, 'capabilities'>): string | null {
  return capabilities.includes('approvals') && !capabilities.includes('checksEveryTool')
    ? 'Rules see only what this agent asks. It may do other things without asking.'
    : null
}

/** Returns the command line with which a person shares the session in the agent's own terminal program; null if that is not possible now. The text is not escaped. */
export function attachCommand({ capabilities, process }: Pick<Session, 'capabilities' | 'process'>): string | null {
  return capabilities.includes('sharedTerminal') && process?.state === 'live' ? (process.attach ?? null) : null
}

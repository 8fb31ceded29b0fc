/** Describes in plain words the changes that `holdpoint restore` has made and those that it has undone. */
import { exactText, labelText, ruleText } from '@holdpoint/client'
import type { Recovery, UndoneChanges } from '@holdpoint/engine'
import type { Rule } from '@holdpoint/protocol'

export interface RestoreOutcome extends Recovery {
  readonly file: string
  /** The number of events in the backup. */
  readonly events: number
  /** The path of the copy of the previous store; null if there was none. */
  readonly previous: string | null
  /** The changes in the previous store since the backup; null if the two cannot be compared. */
  readonly undone: UndoneChanges | null
  /** The number of lost events; null if it is not known. */
  readonly lostEvents: number | null
}

export function restoreReport(outcome: RestoreOutcome): string {
  const { file, events, previous, tokens, unknown } = outcome
  return [
    `Restored ${file} with ${count(events, 'event')}.`,
    ...undoneLines(outcome),
    `Revoked ${count(tokens, 'credential')}; only yours is still valid. People sign in again, and agents need new tokens.`,
    ...(unknown > 0
      ? [
          `${count(unknown, 'allow')} in the backup had not been delivered yet. The agent may have used ${unknown === 1 ? 'it' : 'them'} since, so ${unknown === 1 ? 'it is' : 'they are'} now “unknown” and will not be handed again.`,
        ]
      : []),
    ...(previous === null ? [] : [`The previous database is kept as ${previous}.`]),
    'Open pages and terminals reload when the gateway is running again.',
  ].join('\n')
}

function undoneLines({ previous, undone, lostEvents }: RestoreOutcome): string[] {
  if (previous === null) return []
  if (!undone) {
    const lost = lostEvents === null ? '' : ` The last known event was ${count(lostEvents, 'event')} later.`
    return [
      `The previous database cannot be compared with the backup, so Holdpoint cannot list the undone changes.${lost}`,
    ]
  }
  const { events, answers, revokedTokens, lostRules, revivedRules, pendingAgain } = undone
  const unread = lostEvents === null ? 0 : lostEvents - events
  const counts = [
    count(events, 'event'),
    count(answers, 'answer'),
    `${count(revokedTokens, 'revocation')} of credentials`,
    count(lostRules.length, 'rule'),
  ]
  return [
    events === 0 && unread <= 0
      ? 'Nothing had happened since the backup.'
      : `Undone since the backup: ${counts.join(', ')}.`,
    ...(unread > 0 ? [`${count(unread, 'more event')} had already been lost from the previous database.`] : []),
    ...ruleLines(
      'deny rule',
      'is gone',
      'are gone',
      lostRules.filter(({ effect }) => effect === 'deny'),
      'Add them again if you still need them.',
    ),
    ...ruleLines(
      'other rule',
      'is gone',
      'are gone',
      lostRules.filter(({ effect }) => effect !== 'deny'),
      '',
    ),
    ...ruleLines(
      'removed rule',
      'applies again',
      'apply again',
      revivedRules,
      'Remove them again if you do not want them.',
    ),
    ...(pendingAgain > 0
      ? [
          `${count(pendingAgain, 'request')} that had been resolved ${pendingAgain === 1 ? 'is' : 'are'} pending again. Check before you answer: the agent may have acted already.`,
        ]
      : []),
  ]
}

function ruleLines(noun: string, is: string, are: string, rules: readonly Rule[], advice: string): string[] {
  if (rules.length === 0) return []
  const verb = rules.length === 1 ? is : are
  return [
    `${count(rules.length, noun)} ${verb}:${advice === '' ? '' : ` ${advice}`}`,
    ...rules.map(rule => `  ${exactText(ruleText(rule))} (${rule.id}, added by ${labelText(rule.madeBy)})`),
  ]
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

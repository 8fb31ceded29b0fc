/** Writes and removes rules together with their events, and says when a rule has ended. */
import type { ChangeBuilder } from './change-builder.ts'
import type { RuleRow, SessionRow } from './rows.ts'

export function putRule(change: ChangeBuilder, row: RuleRow, type: 'rule.added' | 'rule.changed'): void {
  const { ord: _ord, ...value } = row
  change.put('rule', row)
  change.event(null, { type, value })
}

/** Removes a rule and the count of its uses. */
export function takeRule(change: ChangeBuilder, id: RuleRow['id']): void {
  change.delete('rule', id)
  if (change.get('ruleuse', id)) change.delete('ruleuse', id)
  change.event(null, { type: 'rule.removed', rule: id })
}

/** Returns whether a rule has ended because its turn or session has ended. */
export function hasEnded({ until, ord }: RuleRow, session: Pick<SessionRow, 'turnEndedSeq' | 'endedSeq'>): boolean {
  if (until === undefined) return false
  return ((until === 'turn' ? session.turnEndedSeq : session.endedSeq) ?? -1) >= ord
}

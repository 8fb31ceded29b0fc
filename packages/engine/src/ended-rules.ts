/** Removes the rules that end with a turn or a session, once that turn or session has ended. Such rules no longer have an effect and would only fill the list. */
import type { Context } from './context.ts'
import type { Feed } from './feed.ts'
import type { RuleRow, SessionRow } from './rows.ts'
import { hasEnded, takeRule } from './rule-changes.ts'

export class EndedRules {
  /** Whether a turn or a session has ended since the last check. True at the start, because a new gateway does not know what ended before. */
  #mayExist = true

  constructor(feed: Feed) {
    feed.onEvent(({ body: { type } }) => {
      if (type === 'turn.finished' || type === 'session.ended' || type === 'session.deleted') this.#mayExist = true
    })
  }

  async remove(ctx: Context): Promise<void> {
    if (!this.#mayExist) return
    this.#mayExist = false
    for (const { id, until, scope } of (await ctx.currentRules()).rules) {
      if (until === undefined || scope?.session === undefined) continue
      const session = scope.session
      const [rule, owner] = await Promise.all([ctx.store.get('rule', id), ctx.store.get('session', session)])
      if (!rule || !isOver(rule, owner)) continue
      await ctx.commit({
        label: 'sweep',
        reads: [
          { table: 'rule', id },
          { table: 'ruleuse', id },
          { table: 'session', id: session },
        ],
        decide: change => {
          const row = change.get('rule', id)
          if (row && isOver(row, change.get('session', session))) takeRule(change, id)
          return { status: 200, body: {} }
        },
      })
    }
  }
}

function isOver(rule: RuleRow, session: SessionRow | undefined): boolean {
  return !session || hasEnded(rule, session)
}

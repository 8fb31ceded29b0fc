/** Applies changed rules to the requests that are pending. Runs at the start of a gateway and after every change of a rule, also by another gateway. Two gateways may do this at the same time, because a request is resolved once. */
import type { RuleSet } from '@holdpoint/rules'
import { type Context, pendingIn } from './context.ts'
import { scan } from './paging.ts'
import { draftsFor, expireIfDue } from './request-transitions.ts'
import type { RequestRow } from './rows.ts'
import { resolveByRule, ruleContext } from './rule-answers.ts'
import { accountOf, usageReads } from './usage.ts'

export class PendingRules {
  readonly #ctx: Context
  readonly #onError: (error: unknown) => void
  #running: Promise<void> | null = null
  #isStale = false
  #isClosed = false

  constructor(ctx: Context, onError: (error: unknown) => void) {
    this.#ctx = ctx
    this.#onError = onError
    ctx.feed.onEvent(({ body }) => {
      if (body.type === 'rule.added' || body.type === 'rule.changed' || body.type === 'rule.removed') this.apply()
    })
  }

  /** Applies the rules in the background. If the rules change before this has finished, it starts again. */
  apply(): void {
    this.#isStale = true
    this.#running ??= this.#run().finally(() => {
      this.#running = null
      if (this.#isStale && !this.#isClosed) this.apply()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  async #run(): Promise<void> {
    this.#isStale = false
    try {
      // Loading many rules takes long, so they are loaded only if a request is pending.
      if ((await this.#ctx.store.find('request', { where: pendingIn(), limit: 1 })).length === 0) return
      const rules = await this.#ctx.currentRules()
      if (rules.rules.length === 0) return
      for await (const row of scan(this.#ctx, 'request', { where: pendingIn() })) {
        if (this.#isStale || this.#isClosed) return
        if (await this.#mayMatch(rules, row)) await this.#applyTo(row)
      }
    } catch (error) {
      if (!this.#isClosed) this.#onError(error)
    }
  }

  /** Returns whether a rule may answer the request. This check is much cheaper than a change for every pending request; the change itself decides. */
  async #mayMatch(rules: RuleSet, { ask, agentPath, session: id }: RequestRow): Promise<boolean> {
    if (ask.kind !== 'approval') return false
    const session = await this.#ctx.store.get('session', id)
    if (!session) return false
    const details = { agentPath, isEditable: ask.editable }
    const context = ruleContext(this.#ctx, session, details, await this.#ctx.store.now(), () => false)
    return rules.evaluate(ask, context).verdict !== 'ask'
  }

  async #applyTo({ id, session, account }: RequestRow): Promise<void> {
    const ctx = this.#ctx
    await ctx.commit({
      label: 'applyRules',
      reads: [
        { table: 'request', id },
        { table: 'session', id: session },
        draftsFor(id),
        ...usageReads(session, accountOf({ account })),
      ],
      decide: change => {
        const found = change.get('request', id)
        const owner = change.get('session', session)
        const drafts = change.find('draft', draftsFor(id).query)
        const row = found && expireIfDue(change, found, drafts)
        if (owner && row?.status === 'pending') resolveByRule(ctx, change, owner, row, drafts)
        return { status: 200, body: {} }
      },
    })
  }
}

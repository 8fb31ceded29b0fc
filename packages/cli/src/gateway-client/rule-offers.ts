/** The rules that Holdpoint offers for “Always” on a request, with what each of them would have matched. */
import { needsSession, type RuleDuration, ruleExpiry } from '@holdpoint/client'
import type { Call, Request, RequestId, RuleDraft, RulePreview, RuleProposal } from '@holdpoint/protocol'

export interface RuleOffer extends RuleProposal {
  readonly preview: RulePreview
}
export interface RuleOffers {
  readonly items: readonly RuleOffer[]
  /** The reason why there are no rules; an empty text if there are some. */
  readonly reason: string
  /** The gateway's time, epoch ms. */
  readonly now: number
}

export async function loadRuleOffers(call: Call, id: RequestId): Promise<RuleOffers> {
  const [{ items, reason = '' }, { now }] = await Promise.all([call('proposeRules', { id }), call('whoAmI', {})])
  const previews = await Promise.all(items.map(({ rule }) => call('previewRule', { rule })))
  return {
    items: items.flatMap((proposal, index) => {
      const preview = previews[index]
      return preview ? [{ ...proposal, preview }] : []
    }),
    reason,
    now,
  }
}

/** Returns the rule with a limited duration. */
export function withDuration(
  rule: RuleDraft,
  duration: RuleDuration | { readonly ms: number },
  { session, now }: { readonly session: Request['session']; readonly now: number },
): RuleDraft {
  if (typeof duration === 'object') return { ...rule, expiresAt: now + duration.ms }
  if (needsSession(duration)) return { ...rule, until: duration, scope: { ...rule.scope, session } }
  const expiresAt = ruleExpiry(duration, now)
  return expiresAt === undefined ? rule : { ...rule, expiresAt }
}

/** The rules that Holdpoint offers for “Always” on a request, with what each of them would have matched, and the durations to choose from. */
import type { Call, Request, RequestId, RuleDraft, RulePreview, RuleProposal } from '@holdpoint/protocol'

export interface RuleOffer extends RuleProposal {
  readonly preview: RulePreview
}
export interface RuleOffers {
  readonly items: readonly RuleOffer[]
  /** Why there are none; an empty text if there are some. */
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

const hourMs = 3600_000

/** How long a rule may apply, the shortest first. */
export const ruleDurations = [
  { name: 'turn', label: 'Until this turn ends' },
  { name: 'session', label: 'Until this session ends' },
  { name: '1h', label: '1 hour' },
  { name: '1d', label: '1 day' },
  { name: '30d', label: '30 days' },
  { name: 'none', label: 'No end' },
] as const
export type RuleDuration = (typeof ruleDurations)[number]['name']

const lengthsMs = { '1h': hourMs, '1d': 24 * hourMs, '30d': 30 * 24 * hourMs } as const

/** Returns the rule with a limited duration. */
export function withDuration(
  rule: RuleDraft,
  duration: RuleDuration | { readonly ms: number },
  { session, now }: { readonly session: Request['session']; readonly now: number },
): RuleDraft {
  if (duration === 'none') return rule
  if (duration === 'turn' || duration === 'session')
    return { ...rule, until: duration, scope: { ...rule.scope, session } }
  return { ...rule, expiresAt: now + (typeof duration === 'object' ? duration.ms : lengthsMs[duration]) }
}

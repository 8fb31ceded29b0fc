/** What a verdict means for a call that the agent would make without asking. */
import type { Verdict } from '@holdpoint/protocol'

/** Returns "deny" or "ask" if a rule or a watcher says so. Otherwise returns null, so that the agent continues as usual: the verdict is "ask" too if neither a rule nor a watcher applies. */
export function decidedBy({ verdict, rule, watcher }: Verdict): 'deny' | 'ask' | null {
  return verdict === 'allow' || (rule === undefined && watcher === undefined) ? null : verdict
}

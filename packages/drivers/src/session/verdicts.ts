/** What a verdict means for a call that the agent would make without asking. */
import type { Verdict } from '@holdpoint/protocol'

/** Returns "deny" or "ask" if a rule or a watcher says so. Without either, the verdict is "ask" too, and the agent goes on as usual. */
export function decidedBy({ verdict, rule, watcher }: Verdict): 'deny' | 'ask' | null {
  return verdict === 'allow' || (rule === undefined && watcher === undefined) ? null : verdict
}

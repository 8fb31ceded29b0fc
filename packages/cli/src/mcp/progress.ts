/** Tells an MCP client that a call still waits, so that the client does not give up. Many clients wait 60 seconds, and longer after each notification. */
import type { Clock } from '@holdpoint/protocol'
import { mcpTexts } from './texts.ts'

export const progressEveryMs = 10_000

export interface ProgressNotification {
  readonly method: 'notifications/progress'
  readonly params: { readonly progressToken: string | number; readonly progress: number; readonly message: string }
}

/** Sends notifications until the returned function is called. Sends none if the client gave no token. */
export function keepReporting(
  progressToken: string | number | undefined,
  send: (notification: ProgressNotification) => Promise<void>,
  clock: Clock,
): () => void {
  if (progressToken === undefined) return () => {}
  let progress = 0
  let cancel = () => {}
  const report = () => {
    progress++
    const params = { progressToken, progress, message: mcpTexts.waiting }
    // If the client is gone, the end of its connection ends the call.
    void send({ method: 'notifications/progress', params }).catch(() => {})
    cancel = clock.after(progressEveryMs, report, { background: true })
  }
  cancel = clock.after(progressEveryMs, report, { background: true })
  return () => cancel()
}

/** Returns whether a client canceled a call only because its own time limit was over. The MCP SDK then gives this code as the reason. A repeated call gets the same request. */
export function isTimeLimit(reason: unknown): boolean {
  return typeof reason === 'string' && (reason.includes('-32001') || /\btim(?:ed|e) ?out\b/i.test(reason))
}

/** What every kind of agent brings along: what it can do, and how one session of it is driven. */
import type { DriverInfo } from '@holdpoint/protocol'
import type { AgentSession } from './session/agent-session.ts'

export interface Driver {
  info(): DriverInfo | Promise<DriverInfo>
  /** Drives the session until it parks or ends it, or until the session's signal aborts. */
  run(session: AgentSession): Promise<void>
  /** Calls back when `info` would say something else than before. */
  onChange?(changed: () => void): void
}

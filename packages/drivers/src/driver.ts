/** The interface of a driver: it describes its agent's capabilities and runs the agent's sessions. */
import type { DriverInfo } from '@holdpoint/protocol'
import type { AgentSession } from './session/agent-session.ts'

export interface Driver {
  info(): DriverInfo | Promise<DriverInfo>
  /** Runs the session until the driver parks or ends it, or until the session's signal aborts. */
  run(session: AgentSession): Promise<void>
  /** Registers a callback that the driver calls when the result of `info()` has changed. */
  onChange?(changed: () => void): void
}

/** The interface of a driver: what its agent can do, and how to run one session of it. */
import type { DriverInfo } from '@holdpoint/protocol'
import type { AgentSession } from './session/agent-session.ts'

export interface Driver {
  info(): DriverInfo | Promise<DriverInfo>
  /** Runs the session until the driver parks or ends it, or until the session's signal aborts. */
  run(session: AgentSession): Promise<void>
  /** Registers a callback for when `info()` would return something else than before. */
  onChange?(changed: () => void): void
}

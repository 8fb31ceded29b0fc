/** The interface of a driver: it describes its agent's capabilities and runs the agent's sessions. */

import type { AgentSession } from '@holdpoint/client'
import type { Clock, DriverInfo, Session, SessionId } from '@holdpoint/protocol'

export interface Driver {
  info(): DriverInfo | Promise<DriverInfo>
  /** Runs the session until the driver parks or ends it, or until the session's signal aborts. */
  run(session: AgentSession): Promise<void>
  /** Registers a callback that the driver calls when the result of `info()` has changed. */
  onChange?(changed: () => void): void
  /** Called when a runner starts. Can end processes of earlier runners that no session needs any more, and removes what is stored for deleted sessions. Resolves after `signal` has aborted and nothing is left. */
  endLeftProcesses?(runner: RunnerAccess): Promise<void>
}

/** The parts of its runner that a driver may use. */
export interface RunnerAccess {
  readonly clock: Clock
  /** Aborts when the runner stops. */
  readonly signal: AbortSignal
  /** Returns a session of this runner, or null if it does not exist. */
  readonly sessionOf: (id: SessionId) => Promise<Session | null>
}

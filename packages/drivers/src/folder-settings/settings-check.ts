/** Refuses to start an agent in a folder whose settings the person has not trusted. */
import type { AgentOutput, AgentProtocol } from '../session/agent-connection.ts'
import { refusedSettings } from './messages.ts'
import { findProjectSettings, type ProjectSettings } from './project-settings.ts'
import { personalSettings, type SettingsAgent } from './settings-lists.ts'

export interface SettingsCheckOptions {
  /** The name of the agent in sentences for people. */
  readonly title: string
  /** The agents whose settings the program may load. */
  readonly agents: readonly SettingsAgent[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Returns whether the person has trusted exactly these settings. By default, none are trusted. */
  readonly trusts?: ((settings: ProjectSettings) => boolean) | undefined
}

/** Returns a sentence for people that says why the agent must not start in the folder; null if it may. */
export function settingsRefusal({ title, agents, cwd, env, trusts }: SettingsCheckOptions): string | null {
  const found = agents.flatMap(agent => findProjectSettings(agent, cwd, personalSettings(agent, env)) ?? [])
  const untrusted = found.filter(settings => settings.sha256 === null || !trusts?.(settings))
  return untrusted.length === 0 ? null : refusedSettings(title, untrusted)
}

/**
 * Checks the settings of the folder before every start of the process: when a turn needs a new process, so that the turn
 * fails with the reason, and again immediately before the start, because the files can change in between.
 */
export function withSettingsCheck(protocol: AgentProtocol, options: SettingsCheckOptions): AgentProtocol {
  let isRunning = false
  return {
    ...protocol,
    // A running process has already loaded its settings, and the agent itself may have changed the files since then.
    startProblem: () => protocol.startProblem?.() ?? (isRunning ? null : settingsRefusal(options)),
    connect: connection => {
      const refusal = settingsRefusal(options)
      if (refusal !== null) throw new Error(refusal)
      const emit = (output: AgentOutput) => {
        if (output.type === 'exited') isRunning = false
        return connection.emit(output)
      }
      const connected = protocol.connect({ ...connection, emit })
      isRunning = true
      return connected
    },
  }
}

/** The driver for agents that speak the Agent Client Protocol. Each kind of agent has a profile. */
import { join } from 'node:path'
import { type Clock, Fault } from '@holdpoint/protocol'
import { agentEnvironment } from '../agent-environment.ts'
import { cwdProblem } from '../claude/setup/cwd-check.ts'
import { removeDeletedSessions } from '../deleted-sessions.ts'
import type { Driver } from '../driver.ts'
import type { ProjectSettings } from '../folder-settings/project-settings.ts'
import { withSettingsCheck } from '../folder-settings/settings-check.ts'
import { findAgent, infoOf, versionHint } from '../installed-agent.ts'
import type { AgentProtocol } from '../session/agent-connection.ts'
import { runSession } from '../session/session-loop.ts'
import { acpSettings } from './messages.ts'
import { type AcpProfile, acpCapabilities } from './profiles.ts'
import { modeProblem } from './settings.ts'

export interface AcpOptions {
  /** Folder for the records of the agents' processes. */
  readonly folder: string
  /** The executable. The default is HOLDPOINT_<NAME>, then the PATH. */
  readonly executable?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
  readonly idleParkMs?: number
  /** Returns whether the person has trusted exactly these settings of the working folder. By default, none are trusted. */
  readonly trustsProjectSettings?: (settings: ProjectSettings) => boolean
}

export function acpDriver(profile: AcpProfile, options: AcpOptions): Driver {
  const { name, title, modes } = profile
  const env = options.env ?? process.env
  const find = () => findAgent(profile, env, options.executable)
  return {
    async info() {
      const driver = { name, title, modes: [...(modes ?? [])], capabilities: [...acpCapabilities(profile)] }
      return infoOf(driver, find(), executable => versionHint(profile, executable, env))
    },
    async run(session) {
      const { info } = session
      const found = find()
      if ('missing' in found) throw new Error(found.missing)
      // The mode of a session that continues a conversation may be one that the agent itself has reported.
      const problem = info.conversationId === null ? modeProblem(profile, info.mode ?? undefined) : null
      if (problem) throw new Fault('bad_input', problem)
      // Only runners that use the protocol load its library.
      const { AcpConnection } = await import('./connection.ts')
      const process = {
        executable: found.executable,
        args: profile.args,
        env: { ...agentEnvironment(env), ...profile.env },
        folder: join(options.folder, info.id),
      }
      const protocol: AgentProtocol = {
        title,
        keepsAfterLoss: 'conversation',
        startHint: acpSettings.startHint(profile.command),
        connect: connection => new AcpConnection({ ...connection, profile, process }),
        startProblem: () => cwdProblem(info.cwd),
        settingsProblem: ({ mode }) => modeProblem(profile, mode),
      }
      const checked = withSettingsCheck(protocol, {
        ...{ title, agents: profile.settingsAgents, cwd: info.cwd, env, trusts: options.trustsProjectSettings },
      })
      const { clock, idleParkMs } = options
      await runSession(session, checked, { ...(clock && { clock }), ...(idleParkMs !== undefined && { idleParkMs }) })
    },
    endLeftProcesses: runner => removeDeletedSessions(options.folder, runner),
  }
}

/** The driver for agents that speak the Agent Client Protocol. Each kind of agent has a profile. */
import { isAbsolute, join } from 'node:path'
import { type Capability, type Clock, type DriverInfo, Fault } from '@holdpoint/protocol'
import { agentEnvironment } from '../agent-environment.ts'
import { findOnPath, isExecutable, versionOf } from '../agent-executable.ts'
import { cwdProblem } from '../claude/setup/cwd-check.ts'
import type { Driver } from '../driver.ts'
import type { AgentProtocol } from '../session/agent-connection.ts'
import { runSession } from '../session/session-loop.ts'
import { acpInstallation } from './messages.ts'
import { type AcpProfile, executableVariable } from './profiles.ts'
import { modeProblem } from './settings.ts'

export interface AcpOptions {
  /** Folder for the records of the agents' processes. */
  readonly folder: string
  /** The executable. The default is HOLDPOINT_<NAME>, then the PATH. */
  readonly executable?: string
  readonly env?: Environment
  readonly clock?: Clock
  readonly idleParkMs?: number
}
type Environment = Readonly<Record<string, string | undefined>>

const capabilities: readonly Capability[] = ['resumable', 'messages', 'attachments', 'interrupt']

export function acpDriver(profile: AcpProfile, options: AcpOptions): Driver {
  const { name, title, modes } = profile
  const env = options.env ?? process.env
  const find = () => findAgent(profile, env, options.executable)
  return {
    async info(): Promise<DriverInfo> {
      const base = { name, title, modes: [...modes], capabilities: [...capabilities] }
      const found = find()
      if ('missing' in found) return { ...base, ready: false, ...found }
      const hint = await versionHint(profile, found.executable, env)
      return { ...base, ready: true, ...(hint === null ? {} : { missing: hint }) }
    },
    async run(session) {
      const { info } = session
      const found = find()
      if ('missing' in found) throw new Error(found.missing)
      const problem = modeProblem(profile, info.mode ?? undefined)
      if (problem) throw new Fault('bad_input', problem)
      // The library of the protocol is loaded only for runners that use it.
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
        startHint: acpInstallation.startHint(profile.command),
        connect: connection => new AcpConnection({ ...connection, profile, process }),
        startProblem: () => cwdProblem(info.cwd),
        settingsProblem: ({ mode }) => modeProblem(profile, mode),
      }
      const { clock, idleParkMs } = options
      await runSession(session, protocol, { ...(clock && { clock }), ...(idleParkMs !== undefined && { idleParkMs }) })
    },
  }
}

type Search = { readonly executable: string } | { readonly missing: string; readonly installed?: false }

/** Without `configured`, HOLDPOINT_<NAME> names the executable. An agent that nobody has named is optional, so it is not a problem if it is not installed. */
function findAgent({ name, title, command, install }: AcpProfile, env: Environment, configured?: string): Search {
  const variable = executableVariable(name)
  const named = configured ?? env[variable] ?? (isAbsolute(command) ? command : undefined)
  if (named)
    return isExecutable(named) ? { executable: named } : { missing: acpInstallation.notExecutable(named, variable) }
  const found = findOnPath(command, env)
  if (found !== undefined) return { executable: found }
  if (install === undefined) return { missing: acpInstallation.notOnPath(command) }
  return { missing: acpInstallation.missing(title, install, variable), installed: false }
}

async function versionHint(
  { title, testedVersions }: AcpProfile,
  executable: string,
  env: Environment,
): Promise<string | null> {
  const version = testedVersions.length === 0 ? null : await versionOf(executable, env)
  return version === null || testedVersions.includes(version)
    ? null
    : acpInstallation.untested(title, version, testedVersions)
}

/** The driver for agents that speak the Agent Client Protocol. Each kind of agent has a profile. */
import { execFile } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { type Capability, type Clock, type DriverInfo, Fault } from '@holdpoint/protocol'
import { agentEnvironment } from '../agent-environment.ts'
import { cwdProblem } from '../claude/setup/cwd-check.ts'
import type { Driver } from '../driver.ts'
import type { AgentProtocol } from '../session/agent-connection.ts'
import { runSession } from '../session/session-loop.ts'
import { AcpConnection } from './connection.ts'
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
const versionMaxMs = 20_000

export function acpDriver(profile: AcpProfile, options: AcpOptions): Driver {
  const { name, title, modes } = profile
  const env = options.env ?? process.env
  const find = () => findExecutable(profile, env, options.executable)
  return {
    async info(): Promise<DriverInfo> {
      const base = { name, title, modes: [...modes], capabilities: [...capabilities] }
      const found = find()
      if ('missing' in found) return { ...base, ready: false, missing: found.missing }
      const hint = await versionHint(profile, found.executable, agentEnvironment(env))
      return { ...base, ready: true, ...(hint === null ? {} : { missing: hint }) }
    },
    async run(session) {
      const { info } = session
      const found = find()
      if ('missing' in found) throw new Error(found.missing)
      const problem = modeProblem(profile, info.mode ?? undefined)
      if (problem) throw new Fault('bad_input', problem)
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

type Search = { readonly executable: string } | { readonly missing: string }

function findExecutable({ name, title, command, install }: AcpProfile, env: Environment, configured?: string): Search {
  const variable = executableVariable(name)
  const named = configured ?? env[variable] ?? (isAbsolute(command) ? command : undefined)
  if (named)
    return isExecutable(named) ? { executable: named } : { missing: acpInstallation.notExecutable(named, variable) }
  const found = (env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map(folder => join(folder, command))
    .find(isExecutable)
  return found === undefined ? { missing: acpInstallation.missing(title, install, variable) } : { executable: found }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** The version of each executable, which is asked once for each change of the file. */
const versions = new Map<string, Promise<string | null>>()

async function versionHint(
  { title, testedVersions }: AcpProfile,
  executable: string,
  env: Environment,
): Promise<string | null> {
  if (testedVersions.length === 0) return null
  const { mtimeMs, size } = statSync(executable)
  const key = `${executable}:${mtimeMs}:${size}`
  const asked = versions.get(key) ?? askVersion(executable, env)
  versions.set(key, asked)
  const version = await asked
  return version === null || testedVersions.includes(version)
    ? null
    : acpInstallation.untested(title, version, testedVersions)
}
function askVersion(executable: string, env: Environment): Promise<string | null> {
  return promisify(execFile)(executable, ['--version'], { env, timeout: versionMaxMs }).then(
    ({ stdout }) => /\d{1,9}\.\d{1,9}\.\d{1,9}[\w.-]{0,50}/.exec(stdout)?.[0] ?? null,
    () => null,
  )
}

/** Finds an agent that people install themselves, and explains what to do if it is missing or was not tested. */
import { isAbsolute } from 'node:path'
import type { DriverInfo } from '@holdpoint/protocol'
import { executableVariable } from './agent-environment.ts'
import { findOnPath, isExecutable, versionOf } from './agent-executable.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface InstallableAgent {
  /** The name of the driver. */
  readonly name: string
  /** The name of the agent in sentences for people. */
  readonly title: string
  /** The name of the agent’s program. A setting can name another program. */
  readonly command: string
  /** How a person installs the agent. Missing for an agent whose command line a person has configured. */
  readonly install?: string
  /** The versions that the tests run. */
  readonly testedVersions: readonly string[]
}

type AgentSearch = { readonly executable: string } | { readonly missing: string; readonly installed?: false }

/** Without `configured`, HOLDPOINT_<NAME> names the executable. An agent that nobody has named is optional, so it is not a problem if that agent is not installed. */
export function findAgent(agent: InstallableAgent, env: Environment, configured?: string): AgentSearch {
  const { name, title, command, install } = agent
  const variable = executableVariable(name)
  const named = configured ?? env[variable] ?? (isAbsolute(command) ? command : undefined)
  if (named) return isExecutable(named) ? { executable: named } : { missing: messages.notExecutable(named, variable) }
  const found = findOnPath(command, env)
  if (found !== undefined) return { executable: found }
  if (install === undefined) return { missing: messages.notOnPath(command) }
  return { missing: messages.missing(title, install, variable), installed: false }
}

/** Returns the info of a driver, with what is missing if the agent was not found. `hintOf` returns a remark about an agent that is ready. */
export async function infoOf(
  driver: Omit<DriverInfo, 'ready' | 'missing' | 'installed'>,
  found: AgentSearch,
  hintOf: (executable: string) => Promise<string | null>,
): Promise<DriverInfo> {
  if ('missing' in found) return { ...driver, ready: false, ...found }
  const hint = await hintOf(found.executable)
  return { ...driver, ready: true, ...(hint === null ? {} : { missing: hint }) }
}

/** Returns a sentence for people if the version of the agent was not tested; otherwise null. */
export async function versionHint(
  { title, testedVersions }: InstallableAgent,
  executable: string,
  env: Environment,
): Promise<string | null> {
  const version = testedVersions.length === 0 ? null : await versionOf(executable, env)
  return version === null || testedVersions.includes(version) ? null : messages.untested(title, version, testedVersions)
}

const messages = {
  missing: (title: string, install: string, variable: string) =>
    `${title} is not installed on this machine; install it (${install}), or set ${variable} to the path of its executable`,
  notOnPath: (command: string) =>
    `There is no program \`${command}\` on the PATH; install it, or write its path in the configuration`,
  notExecutable: (file: string, variable: string) =>
    `${file} is not an executable file; write the path of the executable in the configuration or in ${variable}`,
  untested: (title: string, version: string, tested: readonly string[]) =>
    `${title} ${version} was not tested with Holdpoint; ${tested.join(', ')} was. If something does not work, install that version`,
}

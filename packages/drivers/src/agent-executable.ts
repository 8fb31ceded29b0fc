/** Finds the executable of an agent on this machine, and its version. */
import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { agentEnvironment } from './agent-environment.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** How long the agent may take to print its version. The runner offers no agent before it knows all versions. */
const versionMaxMs = 5000

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Returns the path of a command. The programs that a project has installed do not count, nor do relative folders: an untrusted project could contain a program with the name of an agent. */
export function findOnPath(command: string, env: Environment): string | undefined {
  return (agentEnvironment(env).PATH ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map(folder => join(folder, command))
    .find(isExecutable)
}

/** The version of each executable. It is looked up again only if the file has changed. */
const versions = new Map<string, Promise<string | null>>()

/** Resolves with null if the version cannot be found out. */
export function versionOf(executable: string, env: Environment): Promise<string | null> {
  const { mtimeMs, size } = statSync(executable)
  const key = `${executable}:${mtimeMs}:${size}`
  const version = versions.get(key) ?? findVersion(executable, env)
  versions.set(key, version)
  return version
}

/** Reads the version from the npm package of the executable, because some agents take seconds to print it. */
async function findVersion(executable: string, env: Environment): Promise<string | null> {
  return packageVersion(executable) ?? (await printedVersion(executable, env))
}

const Manifest = z.object({ version: z.string(), bin: z.record(z.string(), z.string()) })

function packageVersion(executable: string): string | null {
  const file = realpathSync(executable)
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'package.json')
    if (!existsSync(path)) continue
    const manifest = Manifest.safeParse(parsedJson(readFileSync(path, 'utf8')))
    const isOfPackage = manifest.success && join(folder, manifest.data.bin[basename(executable)] ?? '') === file
    return isOfPackage ? manifest.data.version : null
  }
  return null
}
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function printedVersion(executable: string, env: Environment): Promise<string | null> {
  return promisify(execFile)(executable, ['--version'], { env: agentEnvironment(env), timeout: versionMaxMs }).then(
    ({ stdout }) => stdout.split(/\s/).find(word => /^\d+\.\d+\.\d/.test(word)) ?? null,
    () => null,
  )
}

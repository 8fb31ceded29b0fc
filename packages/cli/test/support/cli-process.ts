/** Runs the built command line program and collects its exit code and output. */
import { type SpawnOptions, spawn } from 'node:child_process'
import { cleanEnvironment, type GatewayProcess, holdpoint } from '../../../../test/support/gateway.ts'

export interface CliResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}
export interface RunOptions extends SpawnOptions {
  /** The text to write to stdin. */
  readonly input?: string
}

export function runCli(words: readonly string[], { input = '', ...options }: RunOptions = {}): Promise<CliResult> {
  return spawnAndCollect(process.execPath, [holdpoint, ...words], input, options)
}

function spawnAndCollect(
  program: string,
  words: readonly string[],
  input: string,
  options: SpawnOptions,
): Promise<CliResult> {
  const child = spawn(program, words, { env: cleanEnvironment(), ...options, stdio: 'pipe' })
  let out = ''
  let err = ''
  child.stdout?.on('data', chunk => {
    out += chunk
  })
  child.stderr?.on('data', chunk => {
    err += chunk
  })
  // Writing fails if the program exits without reading its input.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  return new Promise(resolve => child.once('close', code => resolve({ code, out, err })))
}

/** Returns the environment in which commands find the gateway. */
export function environmentFor(gateway: GatewayProcess): NodeJS.ProcessEnv {
  return { ...cleanEnvironment(), HOLDPOINT_HOME: gateway.home.path }
}
/** Runs a command in the folder of the gateway, against that gateway. */
export function runCliAgainst(gateway: GatewayProcess, words: readonly string[], input?: string): Promise<CliResult> {
  return runCli(words, { env: environmentFor(gateway), cwd: gateway.folder, ...(input !== undefined && { input }) })
}
/** Runs a bash script in which `holdpoint` runs the built program. */
export function bash(gateway: GatewayProcess, script: string): Promise<CliResult> {
  const withFunction = `holdpoint() { ${JSON.stringify(process.execPath)} ${JSON.stringify(holdpoint)} "$@"; }\n${script}`
  return spawnAndCollect('bash', ['-c', withFunction], '', { env: environmentFor(gateway), cwd: gateway.folder })
}

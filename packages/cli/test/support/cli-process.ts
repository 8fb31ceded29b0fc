/** The program as a person runs it: words in, exit code and what it said out. */
import { type SpawnOptions, spawn } from 'node:child_process'
import { type GatewayProcess, holdpoint, plainEnvironment } from '../../../../test/support/gateway.ts'

export interface CliResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}
export interface RunOptions extends SpawnOptions {
  /** What comes in on stdin. */
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
  const child = spawn(program, words, { env: plainEnvironment(), ...options, stdio: 'pipe' })
  let out = ''
  let err = ''
  child.stdout?.on('data', chunk => {
    out += chunk
  })
  child.stderr?.on('data', chunk => {
    err += chunk
  })
  // It may not read what it is given.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  return new Promise(resolve => child.once('close', code => resolve({ code, out, err })))
}

/** The environment of someone whose gateway this is, with `holdpoint` on the path. */
export function environmentFor(gateway: GatewayProcess): NodeJS.ProcessEnv {
  return { ...plainEnvironment(), HOLDPOINT_HOME: gateway.home.path }
}
/** Says it to this gateway. */
export function runCliAgainst(gateway: GatewayProcess, words: readonly string[], input?: string): Promise<CliResult> {
  return runCli(words, { env: environmentFor(gateway), cwd: gateway.folder, ...(input !== undefined && { input }) })
}
/** A script of the shell, in which `holdpoint` is the program. */
export function bash(gateway: GatewayProcess, script: string): Promise<CliResult> {
  const defined = `holdpoint() { ${JSON.stringify(process.execPath)} ${JSON.stringify(holdpoint)} "$@"; }\n${script}`
  return spawnAndCollect('bash', ['-c', defined], '', { env: environmentFor(gateway), cwd: gateway.folder })
}

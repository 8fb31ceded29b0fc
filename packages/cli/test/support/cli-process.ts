/** Runs the built command line program and collects its exit code and output. */
import { type ChildProcess, fork, type SpawnOptions, spawn } from 'node:child_process'
import { join } from 'node:path'
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

/**
 * Commands that need a process of their own: they keep running, start other processes, or read a terminal. A process that is already
 * running can run all others, which saves most of their CPU time: loading Node and the program.
 */
const separateCommands: ReadonlySet<string> = new Set([
  ...['up', 'gateway', 'runner', 'run', 'tui', 'watch', 'ask', 'guard', 'restore'],
  // These are options of `up`, which is the command if no command is given.
  ...['--port', '--host', '--store', '--runner', '--detach', '--json', '--home', '--allow-remote'],
])

/** Runs the program with these arguments: in a separate process, or in a shared one if the command allows that and reads no input. */
export function runCli(words: readonly string[], { input, ...options }: RunOptions = {}): Promise<CliResult> {
  const { env = cleanEnvironment(), cwd = process.cwd(), ...others } = options
  const canShare = input === undefined && Object.keys(others).length === 0 && !separateCommands.has(words[0] ?? 'up')
  if (canShare) return runInHost(words, { env, cwd: String(cwd) })
  return spawnAndCollect(process.execPath, [holdpoint, ...words], input ?? '', options)
}

/** Runs `holdpoint gateway` in a shared process, for a test in which it refuses to start. If it starts, this promise is never settled, so the test fails. */
export function runRefusedGateway(words: readonly string[], cwd: string): Promise<CliResult> {
  return runInHost(['gateway', ...words], { env: cleanEnvironment(), cwd })
}

const idleHosts: ChildProcess[] = []

async function runInHost(
  words: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<CliResult> {
  const host = idleHosts.pop() ?? startHost()
  const result = await new Promise<CliResult>((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the process for short commands ended with code ${code}`))
    host.once('exit', onExit)
    host.once('message', message => {
      host.off('exit', onExit)
      resolve(message as CliResult) // the process sends nothing else
    })
    host.send({ words, ...options })
  })
  idleHosts.push(host)
  return result
}

function startHost(): ChildProcess {
  const host = fork(join(import.meta.dirname, 'command-host.mjs'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  // A host ends when the tests end, and does not keep them running.
  host.unref()
  host.channel?.unref()
  return host
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

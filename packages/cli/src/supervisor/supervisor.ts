/**
 * `holdpoint up` as a shell starts it: runs the gateway as a child process, restarts it after a crash, and meanwhile keeps
 * its listening sockets, so that nobody else can take the port. This process imports almost nothing, because it stays in
 * memory as long as the gateway runs.
 */
import { type ChildProcess, type SendHandle, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { hidePassword, movePasswordToEnvironment } from '../password-in-arguments.ts'
import { countFailure, restartDelayMs } from './restart-delay.ts'

/** A message from the gateway to its supervisor. The handle of a socket is sent with `keep`. */
export type GatewayMessage = { readonly take: string } | { readonly keep: string } | { readonly ready: true }
/** The supervisor's reply to `take`, sent with the handle of a socket if one is kept for the address. */
export interface SupervisorMessage {
  readonly taken: string
}

const firstDelayMs = 100
const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Runs `holdpoint up` with these arguments. `program` is the path of bin/holdpoint.js. */
export function supervise(program: string, words: readonly string[]): void {
  hidePassword(process.argv, message => process.stderr.write(`holdpoint: ${message}\n`))
  const given = { words: words[0] === 'up' ? words.slice(1) : words, env: process.env }
  const { words: rest, env } = movePasswordToEnvironment(given)
  const supervisor = new Supervisor(start => [...process.execArgv, program, 'up', '--supervised', start, ...rest], env)
  for (const signal of stopSignals) process.on(signal, () => supervisor.stop(signal))
  supervisor.start()
}

const setpriv = '/usr/bin/setpriv'

/** Makes Linux kill the command at once if this process dies, even by SIGKILL. Otherwise a new `holdpoint up` would find the store locked until the old gateway has noticed. */
function withParentDeathSignal(command: readonly string[]): readonly string[] {
  return process.platform === 'linux' && existsSync(setpriv) ? [setpriv, '--pdeathsig', 'KILL', ...command] : command
}

class Supervisor {
  readonly #argsFor: (start: 'first' | 'again') => readonly string[]
  readonly #env: NodeJS.ProcessEnv
  readonly #sockets = new Map<string, SendHandle>()
  #child: ChildProcess | null = null
  #restart: NodeJS.Timeout | undefined
  #hasBeenReady = false
  #isStopping = false
  #failures = 0

  constructor(argsFor: (start: 'first' | 'again') => readonly string[], env: NodeJS.ProcessEnv) {
    this.#argsFor = argsFor
    this.#env = env
  }

  start(): void {
    const startedAt = performance.now()
    const used = new Set<string>()
    const [program = '', ...args] = withParentDeathSignal([
      process.execPath,
      ...this.#argsFor(this.#hasBeenReady ? 'again' : 'first'),
    ])
    const child = spawn(program, args, {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: this.#env,
      // In a process group of its own, the gateway does not get the terminal's Ctrl+C directly. This process passes it on.
      detached: true,
    })
    this.#child = child
    child.on('message', (message: GatewayMessage, handle) => this.#onMessage(child, message, handle, used))
    child.once('error', error => {
      log('gateway.unstartable', error.message)
      if (child.pid === undefined) this.#onExit(1, null, 0)
    })
    child.once('exit', (code, signal) => this.#onExit(code, signal, performance.now() - startedAt))
  }

  /** Passes the signal on to the gateway, which ends this process with its own exit code. */
  stop(signal: NodeJS.Signals): void {
    this.#isStopping = true
    clearTimeout(this.#restart)
    if (this.#child) this.#child.kill(signal)
    else process.exit(0)
  }

  #onMessage(child: ChildProcess, message: GatewayMessage, handle: SendHandle, used: Set<string>): void {
    if ('take' in message) {
      const reply: SupervisorMessage = { taken: message.take }
      // Sending fails if the gateway has just ended, which `exit` reports.
      child.send(reply, this.#sockets.get(message.take), () => {})
      used.add(message.take)
    } else if ('keep' in message) {
      this.#sockets.set(message.keep, handle)
      used.add(message.keep)
    } else this.#onReady(child, used)
  }

  #onReady({ pid }: ChildProcess, used: ReadonlySet<string>): void {
    if (this.#hasBeenReady) log('gateway.restarted', `The gateway is running again as process ${pid}`)
    this.#hasBeenReady = true
    // The settings may have changed, and then the gateway listens at other addresses than before.
    for (const [address, handle] of this.#sockets)
      if (!used.has(address)) {
        ;(handle as unknown as { close(): void }).close() // handles of Node have this method
        this.#sockets.delete(address)
      }
  }

  /** Ends with the gateway if it was stopped or could not start. Otherwise it crashed, and is started again. */
  #onExit(code: number | null, signal: NodeJS.Signals | null, uptimeMs: number): void {
    const pid = this.#child?.pid
    this.#child = null
    if (this.#isStopping || code === 0 || !this.#hasBeenReady)
      process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL'])
    this.#failures = countFailure(this.#failures, uptimeMs)
    const delayMs = restartDelayMs(this.#failures, firstDelayMs)
    log('gateway.ended', `${describeExit(pid, code, signal)}. It starts again in ${delayMs / 1000} s`)
    this.#restart = setTimeout(() => this.start(), delayMs)
  }
}

/** The probable causes of signals that a process does not send itself. */
const causes: Readonly<Record<string, string>> = {
  SIGKILL: ', perhaps because the machine ran out of memory',
  SIGABRT: ', perhaps because the process ran out of memory',
}
function describeExit(pid: number | undefined, code: number | null, signal: string | null): string {
  const how = signal === null ? `ended with exit code ${code}` : `was terminated by ${signal}${causes[signal] ?? ''}`
  return `The gateway (process ${pid}) ${how}`
}

/** Writes a line in the format of the gateway's log. */
function log(event: string, message: string): void {
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), event, message })}\n`)
}

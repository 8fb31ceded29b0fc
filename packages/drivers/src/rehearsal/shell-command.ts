/** Runs one shell command in its own process group, without Holdpoint's environment variables. The whole group is killed when the command ends or is aborted. On Linux, the kernel kills the shell if the runner dies. */
import { spawn } from 'node:child_process'
import { agentEnvironment } from '../agent-environment.ts'
import { signalGroup, withParentDeathSignal } from '../process-group.ts'

export interface ShellCommandOptions {
  readonly cwd: string
  /** Aborting kills the whole process group. */
  readonly signal: AbortSignal
  readonly maxMs: number
  readonly outputMaxBytes: number
}

/** Returns the command's output, followed by the exit code or signal if the command failed. Rejects if the command was aborted, took too long or printed too much. */
export async function runShellCommand(command: string, limits: ShellCommandOptions): Promise<string> {
  const { cwd, signal, maxMs, outputMaxBytes } = limits
  signal.throwIfAborted()
  const [file = '', ...words] = withParentDeathSignal(['/bin/sh', '-c', command])
  const child = spawn(file, words, {
    cwd,
    env: agentEnvironment(process.env),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  let bytes = 0
  let failure: unknown
  const endGroup = (why?: unknown) => {
    failure ??= why
    signalGroup(child.pid, 'SIGKILL')
  }
  const abort = () => endGroup(signal.reason)
  const timer = setTimeout(() => endGroup(new Error(`the command took longer than ${maxMs} ms`)), maxMs)
  signal.addEventListener('abort', abort, { once: true })
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= outputMaxBytes) chunks.push(chunk)
      else endGroup(new Error(`the command printed more than ${outputMaxBytes} bytes`))
    })
  // Kill background processes of the command: they would keep stdout open, and `close` would never fire.
  child.once('exit', () => endGroup())
  try {
    const ended = await new Promise<string>((done, fail) => {
      child.once('error', fail)
      child.once('close', (code, killed) =>
        done(code === 0 ? '' : `(${killed ? `ended by ${killed}` : `exit ${code}`})`),
      )
    })
    if (failure !== undefined) throw failure
    return `${Buffer.concat(chunks).toString('utf8')}${ended}`.toWellFormed().trimEnd()
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

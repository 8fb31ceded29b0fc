/** One shell command of an agent: a process group that sees nothing of Holdpoint's own settings, is ended whole, and dies with its runner. */
import { spawn } from 'node:child_process'
import { signalGroup, withParentDeathSignal } from '../process-group.ts'

export interface CommandLimits {
  readonly cwd: string
  /** Ends the whole group. */
  readonly signal: AbortSignal
  readonly maxMs: number
  readonly outputMaxBytes: number
}

/** What it printed, and how it ended where that was not well. Rejects where it was not left to its own end. */
export async function runShellCommand(command: string, limits: CommandLimits): Promise<string> {
  const { cwd, signal, maxMs, outputMaxBytes } = limits
  signal.throwIfAborted()
  const [file = '', ...words] = withParentDeathSignal(['/bin/sh', '-c', command])
  const child = spawn(file, words, {
    cwd,
    env: strangersEnvironment(),
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
  // What it left running would hold its output open, and outlive it.
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

function strangersEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDPOINT_')))
}

/** Protects a process that runs agents inside it: survives their stray errors, redirects their console output to the log, and removes secrets from their environment. */
import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { messageOf } from '@holdpoint/protocol'
import { log } from '../log.ts'

/** Variables that agents do not need. An agent that runs as the same user can still read that user's files; this only avoids handing the secrets over. */
const secrets = ['HOLDPOINT_TOKEN', 'HOLDPOINT_STORE', 'HOLDPOINT_URL'] as const

export function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const rest = { ...env }
  for (const name of secrets) delete rest[name]
  return rest
}

export function isolateAgents(): void {
  for (const name of secrets) delete process.env[name]
  // Node does not say which agent caused the error, so no session can be ended for it, and exiting would end them all.
  for (const event of ['unhandledRejection', 'uncaughtException'] as const)
    process.on(event, (error: unknown) => log({ event, message: messageOf(error), stack: stackOf(error) }))
  // Without a handler, writing to a closed terminal would raise an error, which would be logged to that terminal.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  globalThis.console = new Console({ stdout: logStream('stdout'), stderr: logStream('stderr') })
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined
}

/** Logs each console call as one entry; Console writes one chunk per call. */
function logStream(stream: string): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      log({ event: 'console', stream, message: String(chunk).trimEnd() })
      done()
    },
  })
}

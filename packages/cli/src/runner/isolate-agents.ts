/** Protects a process that runs agents inside it: logs their uncaught errors instead of exiting, redirects their console output to the log, and removes Holdpoint's variables from the environment. */
import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { holdpointVariables } from '@holdpoint/drivers'
import { messageOf } from '@holdpoint/protocol'
import { log } from '../log.ts'

/** The caller must read the settings first, because this function removes the variables that they may come from. */
export function isolateAgents(): void {
  for (const name of holdpointVariables(process.env)) delete process.env[name]
  // Log the error and keep running: Node does not say which agent caused the error, and exiting would end all sessions.
  for (const event of ['unhandledRejection', 'uncaughtException'] as const)
    process.on(event, (error: unknown) => log({ event, message: messageOf(error), stack: stackOf(error) }))
  // Without this handler, a write to a closed terminal would raise an uncaught error. Logging that error would write to the
  // same terminal and fail again.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  globalThis.console = new Console({ stdout: logStream('stdout'), stderr: logStream('stderr') })
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined
}

/** Returns a stream that logs each console call as one entry, because `Console` writes one chunk per call. */
function logStream(stream: string): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      log({ event: 'console', stream, message: String(chunk).trimEnd() })
      done()
    },
  })
}

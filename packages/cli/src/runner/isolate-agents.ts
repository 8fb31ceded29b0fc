/** What a process needs to have agents in it: it outlives their stray errors, keeps their words out of its own output, and hides from them what they need not know. */

import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { messageOf } from '@holdpoint/protocol'
import { log } from '../log.ts'

/** Not for agents. What runs as the same user can still read that user's files; this only keeps it from lying open. */
const secrets = ['HOLDPOINT_TOKEN', 'HOLDPOINT_STORE', 'HOLDPOINT_URL'] as const

export function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const rest = { ...env }
  for (const name of secrets) delete rest[name]
  return rest
}

export function isolateAgents(): void {
  for (const name of secrets) delete process.env[name]
  // Whose promise it was cannot be known, so no session is ended for it; ending the process would end them all.
  for (const event of ['unhandledRejection', 'uncaughtException'] as const)
    process.on(event, (error: unknown) => log({ event, message: messageOf(error), stack: stackOf(error) }))
  // A terminal that is gone must not become an error that is logged to it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  globalThis.console = new Console({ stdout: logStream('stdout'), stderr: logStream('stderr') })
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined
}

/** One call of console is one chunk. */
function logStream(stream: string): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      log({ event: 'console', stream, message: String(chunk).trimEnd() })
      done()
    },
  })
}

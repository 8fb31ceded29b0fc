/** A program that takes over the port of a gateway that was killed, and the path of its Unix socket if it can. If the tests run as root, the program runs as another user. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Prints one line of JSON per event: what it could bind, then every chunk that it received. Answers every request like a gateway that agrees to everything. */
const program = `
const { createServer } = require('node:http')
const [port, socketPath] = process.argv.slice(1)
const print = line => process.stdout.write(JSON.stringify(line) + '\\n')
const reply = { status: 'resolved', resolution: { at: 1, by: 'person', answer: { kind: 'allow' } }, address: '127.0.0.1', proof: 'f' }
const listen = (...address) => new Promise(resolve => {
  const server = createServer((request, response) => response.setHeader('content-type', 'application/json').end(JSON.stringify(reply)))
  server.on('upgrade', (_, socket) => socket.destroy())
  server.on('connection', socket => socket.on('data', chunk => print({ received: String(chunk) })))
  server.once('error', error => resolve(error.code))
  server.listen(...address, () => resolve('listening'))
})
const binds = [listen(Number(port), '127.0.0.1'), listen(Number(port), '::1'), socketPath ? listen(socketPath) : 'not tried']
Promise.all(binds).then(bound => print({ bound }))
`
const nobody = 65_534
export const isRoot = process.getuid?.() === 0

export interface Impostor {
  /** The results for 127.0.0.1, ::1 and the Unix socket: "listening", "not tried" or an error code. */
  readonly bound: readonly string[]
  /** Everything that the program has received. */
  received(): string
  stop(): Promise<void>
}

export async function startImpostor(url: string, socketPath: string): Promise<Impostor> {
  // A program of the same user could take over the socket too. It can also read the token, so this test does not cover that case.
  const args = ['-e', program, new URL(url).port, ...(isRoot ? [socketPath] : [])]
  const who = isRoot ? { uid: nobody, gid: nobody } : {}
  const child = spawn(process.execPath, args, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'], ...who })
  let received = ''
  const lines = createInterface(child.stdout)
  const [first] = (await once(lines, 'line')) as [string] // Node documents this argument of the event
  lines.on('line', line => {
    received += (JSON.parse(line) as { received: string }).received // the program prints lines of this type
  })
  return {
    bound: (JSON.parse(first) as { bound: string[] }).bound, // the program prints this line first
    received: () => received,
    stop: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** A proxy between commands and a gateway. It listens on the Unix socket of a data folder of its own, so commands that use this data folder talk to the proxy. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as onward, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type GatewayProcess, makeFolder } from '../../../../test/support/gateway.ts'
import { openDataFolder, writeAtomically, writeGatewayPidFile } from '../../src/config/data-folder.ts'

export interface SocketProxy {
  /** The data folder with the proxy's socket. */
  readonly home: string
  close(): void
}
/** Handles a request of a command. `pass` forwards the request and resolves with the gateway's reply. */
export type ProxyHandler = (
  request: IncomingMessage,
  reply: ServerResponse,
  pass: () => Promise<IncomingMessage>,
) => Promise<void>

export async function openSocketProxy(gateway: GatewayProcess, handler: ProxyHandler): Promise<SocketProxy> {
  const folder = openDataFolder(makeFolder(gateway, 'proxy'))
  writeAtomically(folder.tokenFile, gateway.token)
  const server = createServer((request, reply) => {
    const pass = async () => {
      const { method, url: path, headers: given } = request
      const headers = { ...given, host: new URL(gateway.url).host }
      const sent = request.pipe(onward(new URL(path ?? '', gateway.url), { method, headers }))
      const [answered] = (await once(sent, 'response')) as [IncomingMessage] // Node documents this argument of the event
      return answered
    }
    handler(request, reply, pass).catch(() => reply.destroy())
  })
  const socket = join(folder.path, 'gateway.sock')
  server.listen(socket)
  await once(server, 'listening')
  writeGatewayPidFile(folder, { url: gateway.url, socket })
  return { home: folder.path, close: () => server.close() }
}

export function passOn(reply: ServerResponse, answered: IncomingMessage): void {
  reply.writeHead(answered.statusCode ?? 0, answered.headers)
  answered.pipe(reply)
}

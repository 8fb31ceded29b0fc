/** `holdpoint mcp`: offers `ask_person` and `request_approval` to an MCP client over stdin and stdout. */
import { once } from 'node:events'
import { type Call, Fault, systemClock } from '@holdpoint/protocol'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { openDataFolder } from '../config/data-folder.ts'
import { type GatewayAddress, requireGateway } from '../gateway-client/gateway-client.ts'
import { printNotice } from '../output/notice.ts'
import { abortOnSignal } from '../signals.ts'
import { McpServer } from './mcp-server.ts'
import { mcpTexts } from './texts.ts'

/** Serves the client that has started this process. */
export async function runMcp({
  port,
  folder,
  ...address
}: GatewayAddress & { readonly port?: string; readonly folder?: string }): Promise<void> {
  if (port !== undefined) throw new Fault('bad_input', mcpTexts.portWithoutHttp)
  if (folder !== undefined) throw new Fault('bad_input', mcpTexts.folderWithoutHttp)
  if (process.stdin.isTTY) printNotice(mcpTexts.forClients)
  const transport = new StdioServerTransport()
  const server = new McpServer({
    transport,
    dataFolder: openDataFolder(address.home),
    connect: () => connectTo(address),
    cwd: process.cwd(),
    clock: systemClock,
    remote: null,
  })
  closeWithClient(transport)
  await server.serve()
}

/** Finds the gateway, and checks that it answers. Later calls are retried while it restarts. */
export async function connectTo(address: GatewayAddress): Promise<Call> {
  await requireGateway(address).call('whoAmI', {})
  return requireGateway(address, { attempts: 1 }).call
}

/** Closes the transport when the client closes its end or a signal arrives. The SDK does not notice the end of stdin. */
export function closeWithClient(transport: StdioServerTransport): void {
  const close = () => void transport.close()
  void once(process.stdin, 'end').then(close)
  abortOnSignal('SIGTERM', 'SIGINT', 'SIGHUP').addEventListener('abort', close)
  // The client has closed the other end of stdout.
  process.stdout.on('error', close)
}

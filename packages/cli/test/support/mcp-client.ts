/** Connects the client of the MCP SDK to the built program, and answers the requests that it opens. */
import type { Answer, Request } from '@holdpoint/protocol'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import { type GatewayProcess, holdpoint } from '../../../../test/support/gateway.ts'
import { environmentFor } from './cli-process.ts'

export interface McpConnection {
  readonly client: Client
  /** Calls a tool and returns its result. The client waits for a minute. */
  call(name: string, args: object): Promise<CallToolResult>
  close(): Promise<void>
}
export interface McpProcessConnection extends McpConnection {
  readonly pid: number
}

const connections = new Set<McpConnection>()

/** Starts `holdpoint mcp` with these arguments in a folder, and connects to it under a name. */
export async function connectMcp(
  gateway: GatewayProcess,
  {
    words = [],
    cwd = gateway.folder,
    name = 'tester',
  }: { words?: readonly string[]; cwd?: string; name?: string } = {},
): Promise<McpProcessConnection> {
  const env = Object.entries(environmentFor(gateway)).filter(entry => entry[1] !== undefined)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [holdpoint, 'mcp', ...words],
    cwd,
    env: Object.fromEntries(env) as Record<string, string>, // variables without a value were removed
    // Like most clients. The SDK reports the end of the process when this pipe is closed too.
    stderr: 'pipe',
  })
  transport.stderr?.on('data', () => {})
  const connection = await connectClient(new Client({ name, version: '1.0.0' }), transport)
  return { ...connection, pid: transport.pid ?? 0 }
}

/** Connects a client. `closeMcpConnections` closes it. */
export async function connectClient(client: Client, transport: Transport): Promise<McpConnection> {
  await client.connect(transport)
  const connection: McpConnection = {
    client,
    call: (tool, args) =>
      client.callTool({ name: tool, arguments: { ...args } }, undefined, {
        timeout: 60_000,
      }) as Promise<CallToolResult>, // a call that does not ask for a task returns none
    close: async () => {
      connections.delete(connection)
      await client.close()
    },
  }
  connections.add(connection)
  return connection
}

export async function closeMcpConnections(): Promise<void> {
  await Promise.all([...connections].map(connection => connection.close()))
}

export function textOf({ content }: CallToolResult): string {
  return content.map(item => (item.type === 'text' ? item.text : '')).join('\n')
}

/** Waits for the only pending request. */
export async function onlyPending(gateway: GatewayProcess): Promise<Request> {
  const find = async () => (await gateway.call('listRequests', { status: 'pending' })).items
  await expect.poll(async () => (await find()).length).toBe(1)
  return (await find())[0] as Request // checked above
}

export async function answerPending(gateway: GatewayProcess, answer: Answer): Promise<Request> {
  const request = await onlyPending(gateway)
  await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer })
  return request
}

/** An MCP server whose tool `run` notes each run in a file and returns when the file finish.txt exists. It ends with its client. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const folder = process.argv[2]
appendFileSync(join(folder, 'pids.txt'), `${process.pid}\n`)
const server = new Server({ name: 'slow', version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: 'run', description: 'Runs', inputSchema: { type: 'object' } }],
}))
server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
  appendFileSync(join(folder, 'runs.txt'), 'run\n')
  signal.addEventListener('abort', () => writeFileSync(join(folder, 'cancelled.txt'), ''))
  while (!existsSync(join(folder, 'finish.txt'))) await pause(20)
  return { content: [{ type: 'text', text: `did ${params.arguments.what}` }] }
})
await server.connect(new StdioServerTransport())
// The SDK does not notice the end of stdin, and a run that waits would keep this process alive.
process.stdin.once('end', () => process.exit())

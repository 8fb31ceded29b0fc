/** An MCP server over stdio. Its only tool sends an elicitation before it returns a result. */
import { createInterface } from 'node:readline'

const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const asks = {
  form: {
    message: 'How many?',
    requestedSchema: { type: 'object', properties: { count: { type: 'integer', minimum: 1 } }, required: ['count'] },
  },
  link: { mode: 'url', message: 'Sign in there', url: 'https://example.org/sign-in', elicitationId: 'el-1' },
}
const waiting = new Map()

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params, result } = JSON.parse(line)
  if (method === 'initialize')
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'shop', version: '1' },
      },
    })
  else if (method === 'tools/list')
    send({
      id,
      result: {
        tools: [
          {
            name: 'order',
            description: 'Orders',
            inputSchema: { type: 'object', properties: { how: { type: 'string' } } },
          },
        ],
      },
    })
  else if (method === 'tools/call') {
    const asked = `ask-${id}`
    waiting.set(asked, id)
    send({ id: asked, method: 'elicitation/create', params: asks[params.arguments.how] })
  } else if (method === undefined && waiting.has(id))
    send({ id: waiting.get(id), result: { content: [{ type: 'text', text: `told: ${JSON.stringify(result)}` }] } })
  else if (id !== undefined) send({ id, result: {} })
})

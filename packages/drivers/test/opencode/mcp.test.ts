/** Tests that the real opencode asks for the tools of MCP servers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { callTool, say } from '../../../../test/agents/model/script.ts'
import { OpencodeFixture } from './opencode-fixture.ts'

/** A server with one tool, which returns its input. */
const server = `
const { createInterface } = require('node:readline')
const tool = { name: 'repeat', description: 'repeats a text', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }
const replies = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text: 'repeated ' + text }] }),
}
createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: replies[method]?.(params) ?? {} }))
})
`
const folder = mkdtempSync(join(tmpdir(), 'holdpoint-mcp-'))
const file = join(folder, 'server.cjs')
writeFileSync(file, server)
let opencode: OpencodeFixture
afterAll(async () => {
  await opencode.close()
  rmSync(folder, { recursive: true })
})

it('opencode asks for a tool of an MCP server, and the request names server and tool', async () => {
  opencode = await OpencodeFixture.create({ mcp: { echo: { type: 'local', command: [process.execPath, file] } } })
  opencode.startRunner()
  opencode.model.script('use the server', callTool('echo_repeat', { text: 'hello' }, { id: 'call_mcp' }), say('Done.'))
  await opencode.start('use the server')
  const request = await opencode.nthRequest(1)
  expect(request.ask).toMatchObject({ action: { mcp: 'echo', tool: 'repeat' }, input: { text: 'hello' } })
  await opencode.answer(request, { kind: 'allow' })
  expect(await opencode.waitForTurnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.model.toolResult('call_mcp')).toContain('repeated hello')
})

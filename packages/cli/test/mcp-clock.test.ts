/** MCP calls that wait for an hour, with a manual clock and a gateway in this process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer, Request } from '@holdpoint/protocol'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolRequestSchema, type CallToolResult, type Progress } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ManualClock, RunnerFixture } from '../../drivers/test/runner-fixture.ts'
import { type DataFolder, openDataFolder } from '../src/config/data-folder.ts'
import { serveMcpClients } from '../src/mcp/http/http-server.ts'
import { McpServer } from '../src/mcp/mcp-server.ts'
import { WrapProxy } from '../src/mcp/wrap/wrap-proxy.ts'
import { textOf } from './support/mcp-client.ts'

const hourMs = 3600 * 1000

describe('an MCP call that waits for an hour', () => {
  let folder: string
  let dataFolder: DataFolder
  let clock: ManualClock
  let fixture: RunnerFixture
  let client: Client
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdpoint-mcp-'))
    dataFolder = openDataFolder(join(folder, 'home'))
    clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    client = new Client({ name: 'tester', version: '1.0.0' })
  })
  afterEach(async () => {
    await client.close()
    await fixture.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const options = () => ({ dataFolder, connect: async () => fixture.asPerson, cwd: folder, clock })
  const pending = async (): Promise<Request> => {
    const find = async () => (await fixture.asPerson('listRequests', { status: 'pending' })).items[0]
    await expect.poll(find).toBeDefined()
    return (await find()) as Request // checked above
  }
  /** Calls a tool, answers its request after an hour, and returns the result and the progress that the client was told. */
  const callForAnHour = async (name: string, args: object, answer: Answer) => {
    const progress: Progress[] = []
    const calling = client.callTool({ name, arguments: { ...args } }, undefined, {
      onprogress: notification => progress.push(notification),
      timeout: 600_000,
    }) as Promise<CallToolResult> // no tool of this file returns a task
    const request = await pending()
    await clock.advance(hourMs)
    expect(await pending(), 'the request still waits after an hour').toMatchObject({ id: request.id })
    expect((await fixture.asPerson('getSession', { id: request.session })).state).not.toBe('parked')
    await fixture.answer(request, answer)
    return { result: await calling, progress }
  }

  it('a call that waits for an hour keeps the client informed every ten seconds and returns the answer', async () => {
    const [clientSide, transport] = InMemoryTransport.createLinkedPair()
    const serving = new McpServer({ ...options(), transport, remote: null }).serve()
    await client.connect(clientSide)
    const input = { command: 'make deploy' }
    const approval = { tool_name: 'Bash', input }
    const { result, progress } = await callForAnHour('request_approval', approval, { kind: 'allow' })
    expect(JSON.parse(textOf(result))).toEqual({ behavior: 'allow', updatedInput: input })
    expect(progress.map(step => step.progress)).toEqual(Array.from({ length: 360 }, (_, index) => index + 1))
    await client.close()
    await serving
  })

  it('a call that waits for an hour keeps a client over HTTP informed every ten seconds and returns the answer', async () => {
    const serving = await serveMcpClients(0, options())
    const authorization = `Bearer ${dataFolder.mcpToken()}`
    const transport = new StreamableHTTPClientTransport(new URL(serving.url), {
      requestInit: { headers: { authorization } },
    })
    await client.connect(transport as Transport) // its optional fields are declared differently
    const question = { question: 'Which one?', options: [{ label: 'A' }, { label: 'B' }] }
    const answer: Answer = { kind: 'answers', answers: [{ id: 'answer', chosen: ['B'] }] }
    const { result, progress } = await callForAnHour('ask_person', question, answer)
    expect(textOf(result)).toBe('B')
    expect(progress.length).toBe(360)
    await client.close()
    await serving.close()
  })

  it('a call that waits for an hour in holdpoint mcp wrap keeps the client informed every ten seconds, and is sent to the server only after the answer', async () => {
    const [clientSide, fromClient] = InMemoryTransport.createLinkedPair()
    const [toServer, serverSide] = InMemoryTransport.createLinkedPair()
    const server = new Server({ name: 'files', version: '1.0.0' }, { capabilities: { tools: {} } })
    const calls: unknown[] = []
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      calls.push(params.arguments)
      return { content: [{ type: 'text', text: 'written' }] }
    })
    await server.connect(serverSide)
    const proxy = new WrapProxy({
      ...options(),
      client: fromClient,
      server: toServer,
      name: 'files',
      allowReadOnly: false,
    })
    const running = proxy.run()
    await client.connect(clientSide)
    const { result, progress } = await callForAnHour('write', { path: 'a' }, { kind: 'allow', input: { path: 'b' } })
    expect(textOf(result)).toBe('written')
    expect(calls).toEqual([{ path: 'b' }])
    expect(progress.length).toBe(360)
    await client.close()
    expect(await running).toBe('client')
  })
})

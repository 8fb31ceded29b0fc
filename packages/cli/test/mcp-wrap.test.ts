/** `holdpoint mcp wrap` in front of a real MCP server from npm, with the client of the MCP SDK. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolRequestSchema, CallToolResultSchema, type JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  closeGateways,
  type GatewayProcess,
  makeFolder,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { runCliAgainst } from './support/cli-process.ts'
import { answerPending, closeMcpConnections, connectMcp, onlyPending, textOf } from './support/mcp-client.ts'

const root = resolve(import.meta.dirname, '../../..')
const filesystemServer = join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
const slowServer = join(import.meta.dirname, 'support/mcp-slow-server.mjs')

/** Returns the processes of the slow server that were started in this folder. */
function serverPids(folder: string): readonly number[] {
  const file = join(folder, 'pids.txt')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : []
}
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('holdpoint mcp wrap', () => {
  let gateway: GatewayProcess
  let folder: string
  let folders = 0
  beforeAll(async () => {
    gateway = await startGateway({ runner: 'none' })
  })
  beforeEach(() => {
    folder = makeFolder(gateway, `wrapped-${++folders}`)
  })
  afterEach(async () => {
    await closeMcpConnections()
    await expect.poll(() => serverPids(folder).filter(isRunning), { message: 'servers that still run' }).toEqual([])
  })
  afterAll(closeGateways)

  const wrap = (words: readonly string[], from = gateway) =>
    connectMcp(from, { words: ['wrap', ...words], cwd: folder })
  const filesCommand = () => [process.execPath, filesystemServer, folder]
  const wrapFiles = (...options: string[]) => wrap(['--name', 'files', ...options, '--', ...filesCommand()])
  const wrapSlow = () => wrap(['--', process.execPath, slowServer, folder])
  const write = (path: string, content: string) => ({ path: join(folder, path), content })
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  const killServer = () => {
    const [pid] = serverPids(folder)
    if (pid === undefined) throw new Error('no server was started')
    process.kill(pid, 'SIGKILL')
  }
  const pendingCount = async () => (await gateway.call('listRequests', { status: 'pending' })).items.length

  it('holdpoint mcp wrap passes on the server’s description of itself and its tools unchanged', async () => {
    const direct = new Client({ name: 'tester', version: '1.0.0' })
    const [command = '', ...args] = filesCommand()
    await direct.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }))
    const { client } = await wrapFiles()
    expect(await client.listTools()).toEqual(await direct.listTools())
    expect(client.getServerVersion()).toEqual(direct.getServerVersion())
    expect(client.getServerCapabilities()).toEqual(direct.getServerCapabilities())
    await direct.close()
  })

  it('holdpoint mcp wrap runs an allowed call once, with the arguments that the person has edited', async () => {
    const { call } = await wrapFiles()
    const allowed = call('write_file', write('a.txt', 'one'))
    const request = await onlyPending(gateway)
    expect(request.ask).toMatchObject({
      kind: 'approval',
      tool: 'mcp__files__write_file',
      input: write('a.txt', 'one'),
      action: { mcp: 'files', tool: 'write_file' },
      cwd: folder,
      editable: true,
    })
    expect(existsSync(join(folder, 'a.txt'))).toBe(false)
    await answerPending(gateway, { kind: 'allow', note: 'only this one' })
    expect(textOf(await allowed)).toContain('only this one')
    expect(read('a.txt')).toBe('one')
    const edited = call('write_file', write('b.txt', 'two'))
    await answerPending(gateway, { kind: 'allow', input: write('c.txt', 'three') })
    expect((await edited).isError).toBeFalsy()
    expect(existsSync(join(folder, 'b.txt'))).toBe(false)
    expect(read('c.txt')).toBe('three')
    await expect.poll(async () => (await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
    const { items } = await gateway.call('listEvents', { id: request.session, limit: 100 })
    expect(items.map(({ type }) => type)).toEqual(expect.arrayContaining(['tool.started', 'tool.finished']))
  })

  it('holdpoint mcp wrap does not run a denied call, and the client reads the reason', async () => {
    const { call } = await wrapFiles()
    const denied = call('write_file', write('a.txt', 'one'))
    await answerPending(gateway, { kind: 'deny', reason: 'use notes.txt' })
    const result = await denied
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('use notes.txt')
    expect(readdirSync(folder)).toEqual([])
  })

  it('holdpoint mcp wrap asks before calls of read-only tools too, unless --allow-read-only is given; deny rules apply in any case', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'read me')
    const path = join(folder, 'notes.txt')
    const asking = await wrapFiles()
    await asking.client.listTools()
    const asked = asking.call('read_text_file', { path })
    await answerPending(gateway, { kind: 'deny' })
    expect((await asked).isError).toBe(true)
    const { client, call } = await wrapFiles('--allow-read-only')
    await client.listTools()
    expect(textOf(await call('read_text_file', { path }))).toBe('read me')
    const mcp = { server: 'files', tool: 'read_text_file' }
    const { id } = await gateway.call('addRule', { effect: 'deny', mcp, message: 'not these files' })
    const denied = await call('read_text_file', { path })
    expect(denied.isError).toBe(true)
    expect(textOf(denied)).toContain('not these files')
    await gateway.call('removeRule', { id })
    const written = call('write_file', write('a.txt', 'one'))
    await answerPending(gateway, { kind: 'deny' })
    expect((await written).isError).toBe(true)
  })

  it('holdpoint mcp wrap --allow-read-only asks a person about a call that is too long to compare with a deny rule', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'read me')
    const { client, call } = await wrapFiles('--allow-read-only')
    await client.listTools()
    const { id } = await gateway.call('addRule', { effect: 'deny', path: join(folder, 'private/**') })
    const command = Array.from({ length: 1100 }, (_, index) => `./${index}`).join(' ')
    const asked = call('read_text_file', { path: join(folder, 'notes.txt'), command })
    await answerPending(gateway, { kind: 'deny' })
    expect((await asked).isError).toBe(true)
    await gateway.call('removeRule', { id })
  })

  it('holdpoint mcp wrap attaches an identical call to the request of the first call, and both calls get the result of one run', async () => {
    const { call } = await wrapFiles()
    const first = call('write_file', write('a.txt', 'one'))
    await onlyPending(gateway)
    const second = call('write_file', write('a.txt', 'one'))
    const third = call('list_allowed_directories', {})
    await expect.poll(pendingCount).toBe(2)
    const { items } = await gateway.call('listRequests', { status: 'pending' })
    for (const { id, digest } of items) await gateway.call('answerRequest', { id, digest, answer: { kind: 'allow' } })
    expect(await second).toEqual(await first)
    expect(textOf(await third)).toContain(folder)
  })

  it('holdpoint mcp wrap attaches a call that is repeated after a lost connection to the same request', async () => {
    const lost = await wrapFiles()
    lost.call('write_file', write('a.txt', 'one')).catch(() => {})
    const { id } = await onlyPending(gateway)
    process.kill(lost.pid, 'SIGKILL')
    const back = await wrapFiles()
    const again = back.call('write_file', write('a.txt', 'one'))
    expect((await answerPending(gateway, { kind: 'allow' })).id).toBe(id)
    expect((await again).isError).toBeFalsy()
    expect(read('a.txt')).toBe('one')
  })

  describe('holdpoint mcp wrap with a slow server', () => {
    const runs = () => (existsSync(join(folder, 'runs.txt')) ? read('runs.txt').trim().split('\n').length : 0)
    const finish = () => writeFileSync(join(folder, 'finish.txt'), '')
    const started = () => expect.poll(runs).toBe(1)

    it('holdpoint mcp wrap returns the result to a client that repeats a call after its time limit, without running the call again', async () => {
      const { client, call } = await wrapSlow()
      const params = { name: 'run', arguments: { what: 'job' } }
      const late = client.callTool(params, undefined, { timeout: 3000 })
      await answerPending(gateway, { kind: 'allow' })
      await started()
      await expect(late).rejects.toThrow('timed out')
      const again = call('run', { what: 'job' })
      finish()
      expect(textOf(await again)).toBe('did job')
      expect(runs()).toBe(1)
      expect(await pendingCount()).toBe(0)
    })

    it('holdpoint mcp wrap says that the outcome is unknown if the server is killed after an allowed call was sent', async () => {
      const { call } = await wrapSlow()
      const running = call('run', { what: 'job' })
      await answerPending(gateway, { kind: 'allow' })
      await started()
      killServer()
      const result = await running
      expect(result.isError).toBe(true)
      expect(textOf(result)).toContain('approved and sent to mcp-slow-server, and its outcome is unknown')
      const back = await wrapSlow()
      const again = back.call('run', { what: 'job' })
      await answerPending(gateway, { kind: 'deny', reason: 'it did run' })
      expect(textOf(await again), 'a new call needs a new answer').toContain('it did run')
      expect(runs()).toBe(1)
    })

    it('holdpoint mcp wrap says that the outcome is unknown if Holdpoint is killed after an allowed call was sent', async () => {
      const lost = await wrapSlow()
      const running = lost.call('run', { what: 'job' })
      await answerPending(gateway, { kind: 'allow' })
      await started()
      process.kill(lost.pid, 'SIGKILL')
      await expect(running).rejects.toThrow('Connection closed')
      const back = await wrapSlow()
      const result = await back.call('run', { what: 'job' })
      expect(result.isError).toBe(true)
      expect(textOf(result)).toContain('outcome is unknown')
      expect(await pendingCount()).toBe(0)
      expect(runs()).toBe(1)
    })

    it('holdpoint mcp wrap keeps a result that arrives after the client has disconnected, and returns the result when the client repeats the call', async () => {
      const lost = await wrapSlow()
      lost.call('run', { what: 'job' }).catch(() => {})
      await answerPending(gateway, { kind: 'allow' })
      await started()
      const closing = lost.close()
      finish()
      await closing
      const back = await wrapSlow()
      expect(textOf(await back.call('run', { what: 'job' }))).toBe('did job')
      expect(runs()).toBe(1)
    })

    it('holdpoint mcp wrap returns the result of an allowed call if the gateway is killed while the call runs, and runs the call once', async () => {
      const { call } = await wrapSlow()
      const running = call('run', { what: 'job' })
      await answerPending(gateway, { kind: 'allow' })
      await started()
      await gateway.kill()
      finish()
      expect(textOf(await running)).toBe('did job')
      await gateway.start()
      expect(await pendingCount()).toBe(0)
      expect(runs()).toBe(1)
    })

    it('holdpoint mcp wrap withdraws the request of a call that the client cancels, and tells the server if the call is already running', async () => {
      const { client } = await wrapSlow()
      const cancel = async (until: () => Promise<unknown>) => {
        const controller = new AbortController()
        const params = { name: 'run', arguments: { what: 'job' } }
        client.callTool(params, undefined, { signal: controller.signal }).catch(() => {})
        await until()
        controller.abort('no longer needed')
      }
      await cancel(() => onlyPending(gateway))
      await expect.poll(pendingCount).toBe(0)
      await cancel(async () => {
        await answerPending(gateway, { kind: 'allow' })
        await started()
      })
      await expect.poll(() => existsSync(join(folder, 'cancelled.txt'))).toBe(true)
    })
  })

  it('holdpoint mcp wrap lists tools without a gateway, but runs nothing', async () => {
    const stopped = await startGateway({ runner: 'none' })
    await stopped.stop()
    const { client, call } = await wrap(['--name', 'files', '--allow-read-only', '--', ...filesCommand()], stopped)
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    for (const [tool, args] of [
      ['write_file', write('a.txt', 'one')],
      ['list_directory', { path: folder }],
    ] as const) {
      const result = await call(tool, args)
      expect(result.isError).toBe(true)
      expect(textOf(result)).toContain('This call has not run, because nobody could be asked')
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('holdpoint mcp wrap refuses an ambiguous server name and a server that does not exist', async () => {
    const misleading = await runCliAgainst(gateway, ['mcp', 'wrap', '--name', 'a__b', '--', 'server'], '')
    expect([misleading.code, misleading.err]).toEqual([2, expect.stringContaining('cannot be the name of a server')])
    const missing = await runCliAgainst(gateway, ['mcp', 'wrap', '--', join(folder, 'nothing')], '')
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('cannot be started')])
  })

  it('holdpoint mcp wrap closes the connection of the client if the server ends', async () => {
    const { client } = await wrapSlow()
    let isClosed = false
    client.onclose = () => {
      isClosed = true
    }
    killServer()
    while (!isClosed) await shortPause()
    expect(isClosed).toBe(true)
  })

  it('holdpoint mcp wrap asks before calls of a server at a URL, and says that the outcome is unknown if that server ends', async () => {
    const calls: unknown[] = []
    let received: unknown
    const listener = createServer((request, response) => void transport.handleRequest(request, response))
    const server = new Server({ name: 'remote', version: '1.0.0' }, { capabilities: { tools: {} } })
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      calls.push(params.arguments)
      received = params
      return { content: [{ type: 'text', text: 'done there' }] }
    })
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 'one' })
    await server.connect(transport as Transport) // its optional fields are declared differently
    await new Promise<void>(done => listener.listen(0, '127.0.0.1', done))
    const { port } = listener.address() as AddressInfo // the server listens on a TCP port
    const { client, call } = await wrap(['--', `http://127.0.0.1:${port}/mcp`])
    expect(client.getServerVersion()).toMatchObject({ name: 'remote' })
    const allowed = call('run', { what: 'job' })
    const { ask } = await answerPending(gateway, { kind: 'allow', input: { what: 'edited' } })
    expect(ask, 'without --name, the host names the server').toMatchObject({
      action: { mcp: '127.0.0.1', tool: 'run' },
    })
    expect(textOf(await allowed)).toBe('done there')
    expect(calls).toEqual([{ what: 'edited' }])
    // The server gets only what people have seen.
    const params = { name: 'run', arguments: { what: 'seen' }, path: '/etc', _meta: { path: '/etc', progressToken: 7 } }
    const partly = client.request({ method: 'tools/call', params }, CallToolResultSchema)
    await answerPending(gateway, { kind: 'allow' })
    await partly
    expect(received).toEqual({ name: 'run', arguments: { what: 'seen' }, _meta: { progressToken: 7 } })
    listener.close().closeAllConnections()
    const late = call('run', { what: 'late' })
    await answerPending(gateway, { kind: 'allow' })
    expect(textOf(await late)).toContain('outcome is unknown')
    await server.close()
  })

  it('holdpoint mcp wrap says that the outcome is unknown if the connection of a call to a server at a URL ends or breaks before the result, and returns the result if the server continues the connection', async () => {
    const remote = await startBreakingServer()
    const { client, call } = await wrap(['--', remote.url])
    for (const how of ['end', 'break', 'end resumable', 'break resumable']) {
      const lost = call('run', { how })
      await answerPending(gateway, { kind: 'allow' })
      expect(textOf(await lost), how).toContain('outcome is unknown')
    }
    const resumed = call('run', { how: 'resume' })
    await answerPending(gateway, { kind: 'allow' })
    expect(textOf(await resumed)).toBe('resumed')
    await expect(client.listTools()).rejects.toThrow('ended before its reply arrived')
    expect(remote.calls).toEqual(['end', 'break', 'end resumable', 'break resumable', 'resume'])
    remote.close()
  })
})

/** Starts an MCP server that never replies on the stream of a request. It resumes only the call that says so. */
async function startBreakingServer() {
  const calls: string[] = []
  let resumedId: unknown
  const event = (id: string, data: object | null) =>
    `id: ${id}\nretry: 10\ndata: ${data ? JSON.stringify(data) : ''}\n\n`
  const listener = createServer((request, response) => void reply(request, response))
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const stream = () => response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (request.method === 'GET') {
      if (request.headers['last-event-id'] !== 'resume') return response.writeHead(400).end()
      const result = { content: [{ type: 'text', text: 'resumed' }] }
      return stream().end(event('resume-2', { jsonrpc: '2.0', id: resumedId, result }))
    }
    const { id, method, params } = (await json(request)) as JSONRPCRequest // the client sends messages of MCP
    if (method === 'initialize') {
      const result = {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'remote', version: '1.0.0' },
      }
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    if (id === undefined) return response.writeHead(202).end()
    const { how = 'end' } = Object(params?.arguments) as { how?: string } // the arguments of this test
    if (method === 'tools/call') calls.push(how)
    resumedId = id
    const data = how.includes('resum') ? event(how.split(' ')[0] ?? '', null) : ': nothing\n\n'
    return stream().write(data, () => (how.startsWith('break') ? response.destroy() : response.end()))
  }
  await new Promise<void>(done => listener.listen(0, '127.0.0.1', done))
  const { port } = listener.address() as AddressInfo // the server listens on a TCP port
  return { url: `http://127.0.0.1:${port}/mcp`, calls, close: () => listener.close().closeAllConnections() }
}

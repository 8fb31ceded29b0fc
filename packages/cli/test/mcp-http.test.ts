/** `holdpoint mcp --http` with the client of the MCP SDK: who may connect, lost connections, and restarts of both servers. */
import { readFileSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { createServer } from 'node:net'
import type { RequestId } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, makeFolder, startGateway } from '../../../test/support/gateway.ts'
import { runCliAgainst } from './support/cli-process.ts'
import { answerPending, closeMcpConnections, onlyPending, textOf } from './support/mcp-client.ts'
import { McpHttpProcess, Network } from './support/mcp-http.ts'

describe('holdpoint mcp --http', () => {
  let gateway: GatewayProcess
  let server: McpHttpProcess
  beforeAll(async () => {
    gateway = await startGateway({ runner: 'none' })
    server = new McpHttpProcess(gateway)
    await server.start()
  })
  afterEach(closeMcpConnections)
  afterAll(async () => {
    await server.end('SIGTERM')
    await closeGateways()
  })
  const deliveryOf = async (id: RequestId) => (await gateway.call('getRequest', { id })).delivery.state
  const deploy = { tool_name: 'Bash', input: { command: 'make deploy' } }
  const behavior = (result: Parameters<typeof textOf>[0]) => JSON.parse(textOf(result)).behavior

  /** Sends one HTTP request. `fetch` would set Host by itself. */
  const send = (headers: Record<string, string>, path = '/mcp') =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = httpRequest({ host: '127.0.0.1', port: server.port, path, method: 'POST', headers }, reply => {
        let text = ''
        reply.on('data', chunk => {
          text += chunk
        })
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }))
      })
      sent.on('error', reject)
      sent.end('{}')
    })

  it('holdpoint mcp --http serves several clients, each with a session and a folder of its own', async () => {
    const folders = ['one', 'two'].map(name => makeFolder(gateway, name))
    const clients = await Promise.all(folders.map(folder => server.connect({ folder })))
    const asking = clients.map(({ call }) => call('request_approval', deploy))
    const pending = async () => (await gateway.call('listRequests', { status: 'pending' })).items
    await expect.poll(async () => (await pending()).length).toBe(2)
    const requests = await pending()
    const sessions = await Promise.all(requests.map(({ session: id }) => gateway.call('getSession', { id })))
    expect(sessions.map(({ cwd }) => cwd).sort()).toEqual([...folders].sort())
    for (const { id, digest, session } of requests) {
      const isFirst = sessions.find(found => found.id === session)?.cwd === folders[0]
      await gateway.call('answerRequest', { id, digest, answer: { kind: isFirst ? 'allow' : 'deny' } })
    }
    expect((await Promise.all(asking)).map(behavior)).toEqual(['allow', 'deny'])
    for (const { id } of requests) await expect.poll(() => deliveryOf(id)).toBe('taken')
  })

  describe('with rules for a folder', () => {
    const build = { tool_name: 'Bash', input: { command: 'make build' } }
    const clean = { tool_name: 'Bash', input: { command: 'make clean' } }
    const withRules = async (name: string) => {
      const folder = makeFolder(gateway, name)
      await gateway.call('addRule', { effect: 'allow', command: 'make build', scope: { cwd: folder } })
      await gateway.call('addRule', { effect: 'deny', command: 'make clean', scope: { cwd: folder } })
      return folder
    }

    it('holdpoint mcp --http lets the rules for the folder that a client names deny its calls, but not allow them', async () => {
      const folder = await withRules('named')
      const { call } = await server.connect({ folder, name: 'namer' })
      expect(behavior(await call('request_approval', clean))).toBe('deny')
      const asking = call('request_approval', build)
      await answerPending(gateway, { kind: 'deny' })
      expect(behavior(await asking)).toBe('deny')
    })

    it('holdpoint mcp --http --folder lets the rules for that folder allow the calls of clients that name it or no folder, and of no others', async () => {
      const [folder, other] = [await withRules('fixed'), await withRules('other')]
      const fixed = new McpHttpProcess(gateway, '--folder', folder)
      await fixed.start()
      for (const client of [{ folder }, {}]) {
        const { call } = await fixed.connect(client)
        expect(behavior(await call('request_approval', build))).toBe('allow')
        expect(behavior(await call('request_approval', clean))).toBe('deny')
      }
      const { call } = await fixed.connect({ folder: other })
      expect(behavior(await call('request_approval', clean))).toBe('deny')
      const asking = call('request_approval', build)
      await answerPending(gateway, { kind: 'deny' })
      expect(behavior(await asking)).toBe('deny')
      await closeMcpConnections()
      await fixed.end('SIGTERM')
    })

    it('holdpoint mcp --http does not let the rules for the folder in which it was started allow the calls of clients that name no folder', async () => {
      await gateway.call('addRule', { effect: 'allow', command: 'make build', scope: { cwd: gateway.folder } })
      const { call } = await server.connect({ name: 'nameless' })
      const asking = call('request_approval', build)
      await answerPending(gateway, { kind: 'deny' })
      expect(behavior(await asking)).toBe('deny')
    })
  })

  it('holdpoint mcp --http refuses programs without its token, other host names and pages of other sites, and says why', async () => {
    const authorization = `Bearer ${server.token}`
    const host = `127.0.0.1:${server.port}`
    const cases = [
      [{ host }, 401, 'mcp-token'],
      [{ host, authorization: 'Bearer wrong' }, 401, 'mcp-token'],
      [{ host: `evil.example:${server.port}`, authorization }, 421, 'Use localhost'],
      [{ host, authorization, origin: 'https://evil.example' }, 403, 'Origin'],
      [{ host, authorization, 'sec-fetch-site': 'cross-site' }, 403, 'Pages of other sites'],
      [{ host, authorization, 'mcp-session-id': 'unknown' }, 404, 'Connect again'],
      [{ host, authorization }, 406, 'text/event-stream'],
    ] as const
    for (const [headers, status, text] of cases) {
      const reply = await send(headers)
      expect(reply.text).toContain(text)
      expect(reply.status, text).toBe(status)
    }
    expect(await send({ host, authorization }, '/')).toMatchObject({
      status: 404,
      text: expect.stringContaining('/mcp'),
    })
    expect((await send({ host }, `/mcp?token=${server.token}`)).text).toContain('Do not put a credential in a URL')
  })

  it('holdpoint mcp --http keeps its token private, and the gateway does not accept that token', async () => {
    expect(statSync(gateway.home.mcpTokenFile).mode & 0o777).toBe(0o600)
    expect(server.token).not.toBe(gateway.token)
    await expect(gateway.callAs(server.token)('whoAmI', {})).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('holdpoint mcp --http explains what to do if the port is taken or invalid, if --http is missing, or if the subcommand is unknown', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number } // the server listens on a TCP port
    const refused = async (...words: string[]) => {
      const { code, err } = await runCliAgainst(gateway, ['mcp', ...words], '')
      expect(code).not.toBe(0)
      return err
    }
    expect(await refused('--http', '--port', String(port))).toContain(`Port ${port} is taken`)
    expect(await refused('--http', '--port', '70000')).toContain('--port 70000 is not a port')
    expect(await refused('--port', '4750')).toContain('only for --http')
    expect(await refused('--folder', gateway.folder)).toContain('only for --http')
    expect(await refused('--http', '--folder', '/nowhere')).toContain('--folder /nowhere is not a folder')
    expect(await refused('nonsense')).toContain("unknown command 'nonsense'")
    taken.close()
  })

  it('holdpoint mcp --http continues a call whose connection was cut, with the same request and the answer that arrived in the meantime', async () => {
    const network = new Network()
    const { call } = await server.connect({ fetch: network.fetch })
    const asking = call('request_approval', deploy)
    const { id } = await onlyPending(gateway)
    network.cut()()
    await expect.poll(async () => (await gateway.call('getRequest', { id })).status).toBe('pending')
    const restore = network.cut()
    await answerPending(gateway, { kind: 'allow' })
    expect(await deliveryOf(id), 'nobody could receive it').toBe('waiting')
    restore()
    expect(behavior(await asking)).toBe('allow')
    await expect.poll(() => deliveryOf(id)).toBe('taken')
  })

  it('holdpoint mcp --http gives the answer to a client that lost its connection and connects again as a new client, and does not ask the person again', async () => {
    const network = new Network()
    const lost = await server.connect({ fetch: network.fetch })
    lost.call('request_approval', deploy).catch(() => {})
    const { id } = await onlyPending(gateway)
    network.cut()
    await answerPending(gateway, { kind: 'allow' })
    const back = await server.connect()
    expect(behavior(await back.call('request_approval', deploy))).toBe('allow')
    await expect.poll(() => deliveryOf(id)).toBe('taken')
    expect((await gateway.call('listRequests', { status: 'pending' })).items).toEqual([])
  })

  it('holdpoint mcp --http waits for a gateway that is killed and restarted, and returns the answer', async () => {
    const { call } = await server.connect()
    const asking = call('request_approval', deploy)
    await onlyPending(gateway)
    await gateway.kill()
    await gateway.start()
    await answerPending(gateway, { kind: 'allow' })
    expect(behavior(await asking)).toBe('allow')
  })

  it('holdpoint mcp --http finds the request again after it was killed and restarted', async () => {
    const lost = await server.connect()
    lost.call('ask_person', { question: 'Ship it?' }).catch(() => {})
    const { id } = await onlyPending(gateway)
    await server.end('SIGKILL')
    await server.start()
    const back = await server.connect()
    const asking = back.call('ask_person', { question: 'Ship it?' })
    const answers = [{ id: 'answer', chosen: [], other: 'yes' }]
    expect((await answerPending(gateway, { kind: 'answers', answers })).id).toBe(id)
    expect(textOf(await asking)).toBe('yes')
  })

  it('holdpoint mcp --http withdraws the request of a call that the client cancels, and keeps the request of a client that disconnects', async () => {
    const { client } = await server.connect()
    const cancel = new AbortController()
    const ask = (question: string, signal?: AbortSignal) =>
      client.callTool({ name: 'ask_person', arguments: { question } }, undefined, signal ? { signal } : {})
    ask('Now?', cancel.signal).catch(() => {})
    const cancelled = await onlyPending(gateway)
    cancel.abort('the person pressed escape')
    await expect.poll(async () => (await gateway.call('getRequest', { id: cancelled.id })).status).toBe('resolved')
    ask('Later?').catch(() => {})
    const kept = await onlyPending(gateway)
    await client.close()
    expect((await gateway.call('getRequest', { id: kept.id })).status).toBe('pending')
    await gateway.call('withdrawRequest', { id: kept.id })
  })

  it('holdpoint mcp --http disconnects its clients and exits on SIGTERM', async () => {
    const own = new McpHttpProcess(gateway)
    await own.start()
    await own.connect()
    await own.end('SIGTERM')
    expect(readFileSync(gateway.home.mcpTokenFile, 'utf8').trim()).toBe(server.token)
    await expect(own.connect()).rejects.toThrow()
  })
})

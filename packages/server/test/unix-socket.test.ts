/** Checks the Unix socket of the server, and which host names belong to the addresses that the server listens on. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiRoot } from '@holdpoint/protocol'
import { afterAll, afterEach, expect, it } from 'vitest'
import { secrets, sendRaw, startTestServer, type TestServer } from './test-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-unix-'))
const socketPath = join(folder, 'gateway.sock')
const servers: TestServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})
afterAll(() => rmSync(folder, { recursive: true }))
async function start(...args: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(...args)
  servers.push(server)
  return server
}

function statusOver(target: object, headers = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ path: '/healthz', agent: false, headers, ...target }, reply => {
      reply.resume()
      resolve(reply.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end()
  })
}

it('only the user of the gateway can connect to the Unix socket, and the socket file is removed when the gateway stops', async () => {
  const server = await start({}, { socketPath })
  expect(statSync(socketPath).mode & 0o777).toBe(0o600)
  expect(await statusOver({ socketPath })).toBe(200)
  await server.close()
  expect(existsSync(socketPath)).toBe(false)
})

it('a gateway replaces the socket file that a killed gateway left behind', async () => {
  const program = 'require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))'
  expect(spawnSync(process.execPath, ['-e', program, socketPath]).signal).toBe('SIGKILL')
  expect(existsSync(socketPath)).toBe(true)
  await start({}, { socketPath })
  expect(await statusOver({ socketPath })).toBe(200)
})

it('clients of the Unix socket can connect even if the port has no free connection', async () => {
  const { port } = await start({ connectionLimits: { connectionsMax: 2 } }, { socketPath })
  const connections: Socket[] = []
  // Streams with a credential, because unused connections make room for new ones.
  const stream = `GET ${apiRoot}/events HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${secrets.person}\r\n\r\n`
  for (let i = 0; i < 2; i++)
    await new Promise(resolve => {
      const connection = connect(port, '127.0.0.1', () => connection.write(stream))
      connection.once('data', resolve)
      connections.push(connection)
    })
  await expect(statusOver({ port })).rejects.toThrow()
  expect(await statusOver({ socketPath })).toBe(200)
  for (const connection of connections) connection.destroy()
})

it.each(['127.0.0.2', '::1'])('the URL of a gateway that listens on %s works', async host => {
  const server = await start({}, { host })
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

it('the URL of a gateway that listens on all addresses names localhost, and the host 0.0.0.0 is refused (B9)', async () => {
  const { url, port } = await start({}, { host: '0.0.0.0' })
  expect(url).toBe(`http://localhost:${port}`)
  expect(await sendRaw(port, `GET /healthz HTTP/1.1\r\nHost: 0.0.0.0:${port}\r\nConnection: close\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 421/,
  )
})

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpCall, NoAnswer, Unreachable } from '@holdpoint/client'
import { afterEach, describe, expect, it } from 'vitest'
import { httpFetch, unixFetch } from '../src/gateway-client/http-transport.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a server that listens on TCP has this type of address
}
const get = { headers: {}, redirect: 'error' } as const

describe('httpFetch', () => {
  it('httpFetch sends the method, headers and body, and returns the status and body', async () => {
    const url = await serve(async (request, reply) => {
      let body = ''
      for await (const chunk of request) body += chunk
      reply.statusCode = 201
      reply.end(JSON.stringify([request.method, request.url, request.headers['x-one'], body]))
    })
    const reply = await httpFetch(`${url}/a?b=ü`, {
      method: 'POST',
      headers: { 'x-one': '1' },
      body: 'grüße',
      redirect: 'error',
    })
    expect([reply.ok, reply.status]).toEqual([true, 201])
    expect(JSON.parse(await reply.text())).toEqual(['POST', '/a?b=%C3%BC', '1', 'grüße'])
  })

  it('httpFetch does not follow a redirect', async () => {
    const url = await serve((_, reply) => reply.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('there'))
    const reply = await httpFetch(url, get)
    expect([reply.ok, reply.status, await reply.text()]).toEqual([false, 302, 'there'])
  })

  it('httpFetch streams the body as it arrives', async () => {
    let more = () => {}
    const url = await serve((_, reply) => {
      reply.write('one')
      more = () => reply.end('two')
    })
    const reader = (await httpFetch(url, get)).body?.getReader()
    const decoder = new TextDecoder()
    expect(decoder.decode((await reader?.read())?.value)).toBe('one')
    more()
    expect(decoder.decode((await reader?.read())?.value)).toBe('two')
    expect((await reader?.read())?.done).toBe(true)
  })

  it('httpFetch fails if no server is listening, and if the connection breaks during the reply', async () => {
    await expect(httpFetch('http://127.0.0.1:1', get)).rejects.toThrow()
    const url = await serve((_, reply) => {
      reply.writeHead(200, { 'content-length': '10' })
      reply.write('half', () => reply.destroy())
    })
    await expect((await httpFetch(url, get)).text()).rejects.toThrow()
    await expect((await httpFetch(url, get)).body?.getReader().closed).rejects.toThrow()
    await expect(httpCall({ url, fetch: httpFetch, attempts: 1 })('whoAmI', {})).rejects.toBeInstanceOf(Unreachable)
  })

  it.each(['before the reply', 'during the reply'])(
    'httpFetch closes the connection when the signal aborts %s',
    async when => {
      const abort = new AbortController()
      const reason = new Error('enough')
      const gone: unknown[] = []
      const url = await serve((request, reply) => {
        request.once('close', () => gone.push(true))
        if (when === 'during the reply') reply.write('{', () => abort.abort(reason))
        else abort.abort(reason)
      })
      const call = httpCall({ url, fetch: httpFetch })
      await expect(call('whoAmI', {}, { signal: abort.signal })).rejects.toBe(reason)
      await expect.poll(() => gone.length, { message: 'the server sees the closed connection' }).toBe(1)
    },
  )
})

it('unixFetch sends requests over the Unix socket with the host localhost, even if the URL names another host', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-fetch-'))
  const socket = join(folder, 'a.sock')
  const server = createServer((request, reply) => reply.end(JSON.stringify([request.url, request.headers.host])))
  servers.push(server.listen(socket))
  await once(server, 'listening')
  const reply = await unixFetch(() => socket)('http://elsewhere.example:1/a?b=c', get)
  expect(JSON.parse(await reply.text())).toEqual(['/a?b=c', 'localhost'])
  rmSync(folder, { recursive: true })
})

describe('httpFetch from a server that does not reply', () => {
  it('httpFetch fails after about five seconds if the server answers neither the request nor a probe', async () => {
    const url = await serve(() => {})
    const startedAt = performance.now()
    await expect(httpFetch(url, get)).rejects.toBeInstanceOf(NoAnswer)
    expect(performance.now() - startedAt).toBeGreaterThan(4500)
  })

  it('httpFetch waits for a slow reply, such as a long poll, as long as the server answers probes', async () => {
    const probes: unknown[] = []
    const url = await serve((request, reply) => {
      if (request.url === '/healthz') {
        probes.push(true)
        reply.end()
      } else setTimeout(() => reply.end('late'), 6000)
    })
    expect(await (await httpFetch(`${url}/poll`, get)).text()).toBe('late')
    expect(probes.length).toBe(2)
  })
})

/** Tries unusual spellings of requests: paths, methods, override headers, clocks of clients, and many requests at once on one connection. */
import { connect } from 'node:net'
import { apiRoot, quotas } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  authHeaders,
  openSession,
  request,
  secrets,
  sendRaw,
  startTestServer,
  type TestServer,
} from '../../packages/server/test/test-server.ts'

let gateway: TestServer
beforeAll(async () => {
  gateway = await startTestServer()
})
afterAll(() => gateway.close())

function rawRequest(method: string, target: string, role: keyof typeof secrets | null, ...more: string[]): string {
  const authorization = role === null ? [] : [`Authorization: Bearer ${secrets[role]}`]
  return [`${method} ${target} HTTP/1.1`, `Host: localhost:${gateway.port}`, ...authorization, ...more, '', ''].join(
    '\r\n',
  )
}
async function statusOf(...args: Parameters<typeof rawRequest>): Promise<number> {
  const [method, target, role, ...more] = args
  const reply = await sendRaw(gateway.port, rawRequest(method, target, role, 'Connection: close', ...more))
  return Number(/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1] ?? 0)
}

describe('X16: a request whose path is encoded in an unusual way', () => {
  const tricks = [
    '/api//v1/rules',
    '/api/v1//rules',
    '/api/v1/rules/',
    '/api/v1/./rules',
    '/api/v1/x/../rules',
    '/api/v1/%2e%2e/v1/rules',
    '/api/v1/%72ules',
    '/api%2fv1%2frules',
    '/api/v1/rules%00',
    '/api/v1/rules.',
    '/api/v1/rules;a=b',
    '/api/v1/rules%20',
    '/api/v1\\rules',
    '/API/v1/rules',
    '/api/v1/Rules',
    '//api/v1/rules',
  ]
  it.each(tricks)('X16: the path %s is not found, for an agent as for the owner', async path => {
    for (const role of ['agent', 'person'] as const)
      expect([400, 404], role).toContain(await statusOf('GET', path, role))
  })
  it('X16: an absolute URL as the target is refused', async () => {
    const target = `http://localhost:${gateway.port}/api/v1/rules`
    expect([400, 404, 421]).toContain(await statusOf('GET', target, 'agent'))
  })
})

describe('X16: a request with another method', () => {
  it.each(['HEAD', 'OPTIONS', 'TRACE', 'PUT', 'PATCH', 'PROPFIND', 'get'])(
    'X16: the method %s is refused and does not run an operation',
    async method => {
      const session = await openSession(gateway)
      const status = await statusOf(method, `${apiRoot}/sessions/${session.id}/end`, 'person')
      expect([400, 405]).toContain(status)
      const reply = await request(gateway, `/sessions/${session.id}`, { headers: authHeaders('person') })
      expect(await reply.json()).toMatchObject({ endedAt: null })
    },
  )
  it.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', 'X-Original-URL', 'X-Rewrite-URL'])(
    'X16: the header %s has no effect',
    async header => {
      const value = header.endsWith('URL') ? `${apiRoot}/rules` : 'DELETE'
      expect(await statusOf('GET', `${apiRoot}/me`, 'agent', `${header}: ${value}`)).toBe(200)
      expect(await statusOf('GET', `${apiRoot}/rules`, 'agent', `${header}: ${apiRoot}/me`)).toBe(403)
      expect(await statusOf('GET', `${apiRoot}/me?_method=DELETE`, 'agent')).toBe(400)
    },
  )
})

describe('X18: a client that sends times', () => {
  it('X18: a client that sends times cannot set the time of an answer with a header', async () => {
    const opened = await ask(gateway, await openSession(gateway), 'dated')
    const before = Date.now()
    const reply = await request(gateway, `/requests/${opened.id}/answer`, {
      method: 'POST',
      headers: authHeaders('person', {
        'content-type': 'application/json',
        date: 'Thu, 01 Jan 1970 00:00:00 GMT',
        'x-date': '0',
        'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT',
        age: '1000000',
      }),
      body: JSON.stringify({ digest: opened.digest, answer: { kind: 'deny' } }),
    })
    const { resolution } = (await reply.json()) as { resolution: { at: number } } // an answered request has a resolution
    expect(resolution.at).toBeGreaterThanOrEqual(before)
    expect(resolution.at).toBeLessThanOrEqual(Date.now())
  })
  it.each(['at', 'now', 'date', 'answeredAt', 'openedAt', 'deadlineAt'])(
    'X18: a client that sends times is refused if an answer has the field “%s”',
    async field => {
      const opened = await ask(gateway, await openSession(gateway), field)
      for (const body of [
        { digest: opened.digest, answer: { kind: 'deny' }, [field]: 0 },
        { digest: opened.digest, answer: { kind: 'deny', [field]: 0 } },
      ]) {
        const reply = await request(gateway, `/requests/${opened.id}/answer`, {
          method: 'POST',
          headers: authHeaders('person', { 'content-type': 'application/json' }),
          body: JSON.stringify(body),
        })
        expect(reply.status).toBe(400)
      }
    },
  )
})

describe('X15: many requests at once on one connection', () => {
  it('X15: many requests at once on one connection get their replies in order and no more at once than the limit of their credential, while other clients are served', async () => {
    const count = 2000
    const socket = connect(gateway.port, '127.0.0.1')
    let received = ''
    const replies = () => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(match => match[1])
    const done = new Promise<void>(resolve => {
      socket.on('data', chunk => {
        received += chunk.toString('latin1')
        if (replies().length === count) resolve()
      })
    })
    const targets = Array.from({ length: count }, (_, i) => `${apiRoot}/${i % 2 ? 'me' : 'no'}`)
    socket.write(targets.map(target => rawRequest('GET', target, 'agent')).join(''))
    const reply = await request(gateway, '/me', { headers: authHeaders('person') })
    expect(reply.status).toBe(200)
    expect(replies().length, 'the other client was served before the flood was over').toBeLessThan(count)
    await done
    socket.destroy()
    const [found, missing] = [replies().filter((_, i) => i % 2), replies().filter((_, i) => i % 2 === 0)]
    expect(new Set(missing)).toEqual(new Set(['404']))
    expect(found.filter(status => status !== '200' && status !== '429')).toEqual([])
    expect(found.filter(status => status === '200').length).toBeGreaterThanOrEqual(quotas.connections.agent)
    expect((await request(gateway, '/me', { headers: authHeaders('agent') })).status).toBe(200)
  })
})

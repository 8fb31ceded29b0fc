/** Checks HTTP: routes, inputs, bodies, idempotency keys, OpenAPI, and closing. */
import {
  apiRoot,
  contract,
  formatId,
  limits,
  type Operation,
  type OperationName,
  type Output,
  rolesFor,
} from '@holdpoint/protocol'
import { createServer } from '@holdpoint/server'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { LogLine } from '../src/http-message.ts'
import {
  ask,
  authHeaders,
  openSession,
  post,
  request,
  secrets,
  sendRaw,
  startTestServer,
  type TestServer,
} from './test-server.ts'

let gateway: TestServer
const crashPoints: string[] = []
beforeAll(async () => {
  gateway = await startTestServer({ crashPoint: point => crashPoints.push(point) })
})
afterAll(() => gateway.close())
afterEach(() => crashPoints.splice(0))

const json = { 'content-type': 'application/json' }
async function faultCode(reply: Response): Promise<string> {
  return ((await reply.json()) as { error: { code: string } }).error.code
}

describe('an operation of the contract', () => {
  const roleOf = (name: string) =>
    rolesFor(name as OperationName).find(role => role !== 'nobody' && role !== 'owner') ?? 'person' // the name is a key of the contract
  const prefixes: Readonly<Record<string, 'ses' | 'req' | 'cmd' | 'run' | 'rul' | 'tok'>> = {
    sessions: 'ses',
    requests: 'req',
    commands: 'cmd',
    runners: 'run',
    rules: 'rul',
    tokens: 'tok',
  }
  function pathOf(op: Operation): string {
    const prefix = prefixes[op.path.split('/')[1] ?? ''] ?? 'ses'
    return op.path.replace(':id', formatId(prefix, new Uint8Array(20)))
  }

  it.each(Object.entries<Operation>(contract))('%s has a route and refuses an unknown field', async (name, op) => {
    const query = op.method === 'GET' || op.method === 'DELETE'
    const reply = await request(gateway, `${pathOf(op)}${query ? '?unknownField=1' : ''}`, {
      method: op.method,
      headers: authHeaders(roleOf(name), query ? {} : json),
      ...(query ? {} : { body: '{"unknownField":1}' }),
    })
    expect(reply.status).toBe(400)
    const { error } = (await reply.json()) as { error: { code: string; message: string } }
    expect(error.code).toBe('bad_input')
    expect(error.message).toContain('unknownField')
  })

  it('an operation of the contract is in the OpenAPI document, which needs a credential', async () => {
    expect((await request(gateway, '/openapi.json')).status).toBe(401)
    const reply = await request(gateway, '/openapi.json', { headers: authHeaders('person') })
    const document = (await reply.json()) as {
      openapi: string
      paths: Record<string, Record<string, { operationId: string }>>
    }
    expect(document.openapi).toBe('3.1.0')
    const names = Object.values(document.paths).flatMap(path => Object.values(path).map(op => op.operationId))
    expect(names.sort()).toEqual((Object.keys(contract) as OperationName[]).sort()) // every key of the contract is an operation name
    expect(document.paths['/requests/{id}/answer']?.post).toMatchObject({
      parameters: [{ name: 'id', in: 'path', required: true }, { name: 'Idempotency-Key' }],
      requestBody: { content: { 'application/json': { schema: { required: ['digest', 'answer'] } } } },
    })
  })
})

describe('reading the session log and the audit log', () => {
  it('the session log and the audit log can be read page by page from the end, and the audit log can be searched', async () => {
    const session = await openSession(gateway)
    for (const title of ['Sweep the yard', 'Feed the cat', 'Water the fern']) {
      const { id, digest } = await ask(gateway, session, title)
      await post(gateway, 'person', `/requests/${id}/answer`, { digest, answer: { kind: 'deny', reason: 'Not now' } })
    }
    const get = async (path: string) => (await request(gateway, path, { headers: authHeaders('person') })).json()
    const log = `/sessions/${session.id}/events`
    const newest = (await get(`${log}?before=end&limit=2`)) as Output<'listEvents'> // the reply has the type that the contract declares
    const older = (await get(`${log}?before=${newest.next}`)) as Output<'listEvents'> // the reply has the type that the contract declares
    expect(await get(log)).toEqual({ items: [...older.items, ...newest.items], next: null })
    const both = await request(gateway, `${log}?before=end&after=${newest.next}`, { headers: authHeaders('person') })
    expect([both.status, await faultCode(both)]).toEqual([400, 'bad_input'])

    const auditPage = (query: string) => get(`/audit?session=${session.id}&${query}`) as Promise<Output<'listAudit'>> // the reply has the type that the contract declares
    const keys = async (query: string) =>
      (await auditPage(query)).items.flatMap(entry => (entry.kind === 'decision' ? entry.value.key : []))
    expect(await keys('before=end&limit=2')).toEqual(['Feed the cat', 'Water the fern'])
    expect(await keys('q=THE+CAT&by=person&answer=deny&person=ada')).toEqual(['Feed the cat'])
    expect(await keys('q=not%20now')).toHaveLength(3)
    expect(await keys('answer=allow')).toEqual([])
    for (const entry of (await auditPage('')).items) {
      expect(contract.listAudit.output.safeParse({ items: [entry], next: null }).error).toBeUndefined()
      const { id, delivery } = entry.kind === 'decision' ? entry.value : { id: '', delivery: null }
      expect(entry).toMatchObject({ kind: 'decision', title: 'a test', request: id, delivery })
    }
  })
})

describe('a request for an operation', () => {
  it('the input of an operation combines path, query and body, and numbers in the query are converted', async () => {
    const session = await openSession(gateway)
    const opened = await ask(gateway, session, 'k')
    const reply = await request(gateway, `/requests/${opened.id}?wait=0`, { headers: authHeaders('person') })
    expect(await reply.json()).toEqual(opened)
    const list = await request(gateway, `/requests?limit=1&session=${session.id}`, { headers: authHeaders('person') })
    expect(await list.json()).toMatchObject({ items: [opened], next: null })
    expect(crashPoints).toContain('replying:openRequest')
    expect(crashPoints).toContain('replying:getRequest')
  })
  it('a request for an operation is refused if a field is given twice', async () => {
    const { id } = await openSession(gateway)
    const send = (path: string, init: RequestInit) => request(gateway, path, init).then(faultCode)
    expect(await send(`/sessions/${id}?id=${id}`, { headers: authHeaders('person') })).toBe('bad_input')
    expect(await send('/sessions?limit=1&limit=2', { headers: authHeaders('person') })).toBe('bad_input')
    expect(await faultCode(await post(gateway, 'person', `/sessions/${id}/messages`, { id, text: 'x' }))).toBe(
      'bad_input',
    )
    expect(await send('/sessions?__proto__=1', { headers: authHeaders('person') })).toBe('bad_input')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
  it('a request for an operation takes effect only once if the POST is repeated with the same Idempotency-Key', async () => {
    const headers = authHeaders('agent', { ...json, 'idempotency-key': 'same' })
    const start = () => request(gateway, '/sessions', { method: 'POST', headers, body: '{"driver":"external"}' })
    const [first, second] = [await (await start()).json(), await (await start()).json()]
    expect(second).toEqual(first)
    for (const key of ['with blank', 'x'.repeat(limits.keyMax + 1), 'ümlaut']) {
      const reply = await request(gateway, '/sessions', {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': key },
        body: '{"driver":"external"}',
      })
      expect(await faultCode(reply), key).toBe('bad_input')
    }
  })
  it('A5: an answer is recorded with the client that the gateway observed, not with the client that the caller claims', async () => {
    const opened = await ask(gateway, await openSession(gateway), 'via')
    const reply = await request(gateway, `/requests/${opened.id}/answer`, {
      method: 'POST',
      headers: authHeaders('person', { ...json, 'x-holdpoint-via': 'cli' }),
      body: JSON.stringify({ digest: opened.digest, answer: { kind: 'allow' } }),
    })
    expect(await reply.json()).toMatchObject({
      resolution: { via: 'api', person: 'ada', personId: expect.any(String) },
    })
  })
  it('a request for an operation gets 404 for an unknown path, and 405 with the allowed methods for an unknown method', async () => {
    const headers = authHeaders('person')
    for (const path of [
      '/nothing',
      '/sessions/',
      '//sessions',
      '/sessions/x/y',
      '/%73essions',
      '/sessions;x',
      '/requests/..',
      '/',
    ])
      expect((await fetch(`${gateway.url}${apiRoot}${path}`, { headers })).status, path).toBe(404)
    expect((await fetch(`${gateway.url}/api`, { headers })).status).toBe(404)
    const reply = await request(gateway, '/sessions', { method: 'PUT', headers })
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST, GET'])
    for (const method of ['HEAD', 'OPTIONS', 'DELETE'])
      expect((await request(gateway, '/me', { method, headers })).status, method).toBe(405)
    const overridden = await request(gateway, '/sessions', {
      headers: { ...headers, 'x-http-method-override': 'POST' },
    })
    expect(overridden.status).toBe(200)
  })
  it('a request for an operation that fails unexpectedly gets only an error id, and the error is logged once', async () => {
    const lines: LogLine[] = []
    const broken = { ...gateway.gateway, dispatchUnparsed: () => Promise.reject(new Error('inner\nworkings')) }
    const server = createServer({ gateway: broken, log: line => lines.push(line) })
    const reply = await server.fetch(new Request(`http://localhost${apiRoot}/me`, { headers: authHeaders('person') }))
    expect(reply.status).toBe(500)
    const text = await reply.text()
    expect(text).not.toContain('workings')
    expect(lines).toHaveLength(1)
    expect(text).toContain(lines[0] && 'bug' in lines[0] ? lines[0].bug : 'a bug')
  })
})

describe('a request body', () => {
  const start = (port: number, headers: string[], ...body: (string | Buffer)[]) =>
    sendRaw(
      port,
      [
        `POST ${apiRoot}/sessions HTTP/1.1`,
        `Host: localhost:${port}`,
        `Authorization: Bearer ${secrets.agent}`,
        'Connection: close',
        ...headers,
        '\r\n',
      ].join('\r\n'),
      ...body,
    )
  const jsonType = 'Content-Type: application/json'
  const contentLength = (bytes: Buffer | string) => `Content-Length: ${Buffer.byteLength(bytes)}`

  it('a request body is refused before it is read if its Content-Length is too large', async () => {
    const port = gateway.port
    const links = `POST ${apiRoot}/links HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${secrets.person}\r\n${jsonType}\r\n`
    const reply = await sendRaw(port, `${links}Content-Length: ${limits.bodyMaxBytes + 1}\r\n\r\n`)
    expect(reply).toMatch(/^HTTP\/1.1 413/)
    expect(reply.toLowerCase()).toContain('connection: close')
  })
  it('a request body is read only up to the limit if it has no Content-Length', async () => {
    const port = gateway.port
    const links = `POST ${apiRoot}/links HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${secrets.person}\r\n${jsonType}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const chunk = Buffer.alloc(limits.bodyMaxBytes + 1, 0x20)
    expect(await sendRaw(port, links, `${chunk.length.toString(16)}\r\n`, chunk)).toMatch(/^HTTP\/1.1 413/)
  })
  it('a request body may be exactly as large as the limit', async () => {
    const body = '{}'.padEnd(limits.bodyMaxBytes, ' ')
    const reply = await request(gateway, '/links', { method: 'POST', headers: authHeaders('person', json), body })
    expect(reply.status).toBe(201)
  })
  it('a request body must be an uncompressed JSON object in UTF-8 without duplicate or prototype keys', async () => {
    const cases: [string, string | Buffer, string[], number][] = [
      ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), [jsonType], 400],
      ['a byte order mark', Buffer.from('\ufeff{"driver":"external"}'), [jsonType], 400],
      ['a NUL', '{"driver":"external"}\0', [jsonType], 400],
      ['no JSON', '{', [jsonType], 400],
      ['an array', '[]', [jsonType], 400],
      ['a key twice', '{"driver":"external","driver":"external"}', [jsonType], 400],
      ['a prototype', '{"__proto__":{"polluted":1},"driver":"external"}', [jsonType], 400],
      ['a lone surrogate', '{"driver":"external","title":"\\ud800"}', [jsonType], 400],
      ['compressed', '{}', [jsonType, 'Content-Encoding: gzip'], 415],
      ['no type', '{"driver":"external"}', [], 415],
      ['right', '{"driver":"external"}', [jsonType], 201],
    ]
    for (const [name, body, headers, status] of cases)
      expect(await start(gateway.port, [...headers, contentLength(body)], body), name).toMatch(
        new RegExp(`^HTTP/1.1 ${status}`),
      )
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
  it('a request body is refused if the request has two different lengths', async () => {
    const reply = await start(gateway.port, [jsonType, 'Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n')
    expect(reply).toMatch(/^HTTP\/1.1 400/)
    expect(await start(gateway.port, [jsonType, 'Content-Length: 2', 'Content-Length: 3'], '{}')).toMatch(
      /^HTTP\/1.1 400/,
    )
  })
  it('a request body is refused in a GET request', async () => {
    const reply = await server().fetch(
      Object.defineProperty(new Request(`http://localhost${apiRoot}/me`, { headers: authHeaders('person') }), 'body', {
        value: new Blob(['{}']).stream(),
      }),
    )
    expect(await faultCode(reply)).toBe('bad_input')
  })
  it('a request body is refused if the headers are too large', async () => {
    const reply = await start(gateway.port, [`X-Long: ${'x'.repeat(limits.headersMaxBytes)}`])
    expect(reply).toMatch(/^HTTP\/1.1 431/)
  })
})

const server = () => gateway.server

describe('GET /healthz', () => {
  it('GET /healthz reports the version without a credential', async () => {
    expect(await (await fetch(`${gateway.url}/healthz`)).json()).toEqual({ ok: true, version: '1.2.3' })
  })
})

describe('closing the server', () => {
  it('closing the server ends long polls with the fault `draining`, without waiting for the drain timeout', async () => {
    const closingServer = await startTestServer({ connectionLimits: { drainMaxMs: 3600_000 } })
    const opened = await ask(closingServer, await openSession(closingServer), 'k')
    const poll = request(closingServer, `/requests/${opened.id}?wait=60000`, { headers: authHeaders('agent') })
    // The reply to a later request shows that the poll has reached the server.
    await request(closingServer, '/me', { headers: authHeaders('person') })
    const closed = closingServer.close()
    expect(await faultCode(await poll)).toBe('draining')
    await closed
    await expect(fetch(`${closingServer.url}/healthz`)).rejects.toThrow()
  })
})

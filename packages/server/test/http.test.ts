import {
  apiRoot,
  contract,
  formatId,
  limits,
  type Operation,
  type OperationName,
  type Output,
} from '@holdpoint/protocol'
import { createServer } from '@holdpoint/server'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { LogLine } from '../src/http-message.ts'
import {
  ask,
  headersOf,
  openSession,
  post,
  raw,
  request,
  secrets,
  startTestServer,
  type TestServer,
} from './test-server.ts'

let gateway: TestServer
const probed: string[] = []
beforeAll(async () => {
  gateway = await startTestServer({ crashPoint: point => probed.push(point) })
})
afterAll(() => gateway.close())
afterEach(() => probed.splice(0))

const json = { 'content-type': 'application/json' }
async function codeOf(reply: Response): Promise<string> {
  return ((await reply.json()) as { error: { code: string } }).error.code
}

describe('the contract', () => {
  const roleOf = (op: Operation) => op.roles.find(role => role !== 'anyone') ?? 'person'
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

  it.each(Object.entries<Operation>(contract))(
    'mounts %s and refuses a member that it does not know',
    async (_name, op) => {
      const query = op.method === 'GET' || op.method === 'DELETE'
      const reply = await request(gateway, `${pathOf(op)}${query ? '?unheardOf=1' : ''}`, {
        method: op.method,
        headers: headersOf(roleOf(op), query ? {} : json),
        ...(query ? {} : { body: '{"unheardOf":1}' }),
      })
      expect(reply.status).toBe(400)
      const { error } = (await reply.json()) as { error: { code: string; message: string } }
      expect(error.code).toBe('bad_input')
      expect(error.message).toContain('unheardOf')
    },
  )

  it('is printed as OpenAPI, for those with a credential', async () => {
    expect((await request(gateway, '/openapi.json')).status).toBe(401)
    const reply = await request(gateway, '/openapi.json', { headers: headersOf('person') })
    const printed = (await reply.json()) as {
      openapi: string
      paths: Record<string, Record<string, { operationId: string }>>
    }
    expect(printed.openapi).toBe('3.1.0')
    const names = Object.values(printed.paths).flatMap(path => Object.values(path).map(op => op.operationId))
    expect(names.sort()).toEqual((Object.keys(contract) as OperationName[]).sort()) // the keys of the contract
    expect(printed.paths['/requests/{id}/answer']?.post).toMatchObject({
      parameters: [{ name: 'id', in: 'path', required: true }, { name: 'Idempotency-Key' }],
      requestBody: { content: { 'application/json': { schema: { required: ['digest', 'answer'] } } } },
    })
  })
})

describe('the log and the record', () => {
  it('are read from their end, page by page, and the record is searched', async () => {
    const session = await openSession(gateway)
    for (const title of ['Sweep the yard', 'Feed the cat', 'Water the fern']) {
      const { id, digest } = await ask(gateway, session, title)
      await post(gateway, 'person', `/requests/${id}/answer`, { digest, answer: { kind: 'deny', reason: 'Not now' } })
    }
    const get = async (path: string) => (await request(gateway, path, { headers: headersOf('person') })).json()
    const log = `/sessions/${session.id}/events`
    const newest = (await get(`${log}?before=end&limit=2`)) as Output<'listEvents'> // by the contract
    const older = (await get(`${log}?before=${newest.next}`)) as Output<'listEvents'> // likewise
    expect(await get(log)).toEqual({ items: [...older.items, ...newest.items], next: null })
    const both = await request(gateway, `${log}?before=end&after=${newest.next}`, { headers: headersOf('person') })
    expect([both.status, await codeOf(both)]).toEqual([400, 'bad_input'])

    const record = (query: string) => get(`/audit?session=${session.id}&${query}`) as Promise<Output<'listAudit'>> // likewise
    const keys = async (query: string) => (await record(query)).items.map(line => line.value.key)
    expect(await keys('before=end&limit=2')).toEqual(['Feed the cat', 'Water the fern'])
    expect(await keys('q=THE+CAT&by=person&answer=deny&person=ada')).toEqual(['Feed the cat'])
    expect(await keys('q=not%20now')).toHaveLength(3)
    expect(await keys('answer=allow')).toEqual([])
    for (const { value, title, ...line } of (await record('')).items) {
      expect(
        contract.listAudit.output.safeParse({ items: [{ value, title, ...line }], next: null }).error,
      ).toBeUndefined()
      expect([title, value.id, value.delivery]).toEqual(['a test', line.request, line.delivery])
    }
  })
})

describe('an operation', () => {
  it('takes path, query and body together, and numbers from the query', async () => {
    const session = await openSession(gateway)
    const asked = await ask(gateway, session, 'k')
    const reply = await request(gateway, `/requests/${asked.id}?wait=0`, { headers: headersOf('person') })
    expect(await reply.json()).toEqual(asked)
    const list = await request(gateway, `/requests?limit=1&session=${session.id}`, { headers: headersOf('person') })
    expect(await list.json()).toMatchObject({ items: [asked], next: null })
    expect(probed).toContain('replying:openRequest')
    expect(probed).toContain('replying:getRequest')
  })
  it('refuses a member that is given twice', async () => {
    const { id } = await openSession(gateway)
    const send = (path: string, init: RequestInit) => request(gateway, path, init).then(codeOf)
    expect(await send(`/sessions/${id}?id=${id}`, { headers: headersOf('person') })).toBe('bad_input')
    expect(await send('/sessions?limit=1&limit=2', { headers: headersOf('person') })).toBe('bad_input')
    expect(await codeOf(await post(gateway, 'person', `/sessions/${id}/messages`, { id, text: 'x' }))).toBe('bad_input')
    expect(await send('/sessions?__proto__=1', { headers: headersOf('person') })).toBe('bad_input')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
  it('keeps a repeated POST with one Idempotency-Key one', async () => {
    const headers = headersOf('agent', { ...json, 'idempotency-key': 'same' })
    const start = () => request(gateway, '/sessions', { method: 'POST', headers, body: '{"driver":"external"}' })
    const [first, second] = [await (await start()).json(), await (await start()).json()]
    expect(second).toEqual(first)
    for (const key of ['with blank', 'x'.repeat(limits.keyMax + 1), 'ümlaut']) {
      const reply = await request(gateway, '/sessions', {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': key },
        body: '{"driver":"external"}',
      })
      expect(await codeOf(reply), key).toBe('bad_input')
    }
  })
  it('says where an answer came from', async () => {
    const asked = await ask(gateway, await openSession(gateway), 'via')
    const reply = await request(gateway, `/requests/${asked.id}/answer`, {
      method: 'POST',
      headers: headersOf('person', { ...json, 'x-holdpoint-via': 'cli' }),
      body: JSON.stringify({ digest: asked.digest, answer: { kind: 'allow' } }),
    })
    expect(await reply.json()).toMatchObject({ resolution: { via: 'cli', person: 'ada' } })
  })
  it('is not found, or names the methods that its path takes', async () => {
    const headers = headersOf('person')
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
  it('that breaks says only an id, and the bug is logged once under it', async () => {
    const lines: LogLine[] = []
    const broken = { ...gateway.gateway, dispatchUnknown: () => Promise.reject(new Error('inner\nworkings')) }
    const server = createServer({ gateway: broken, log: line => lines.push(line) })
    const reply = await server.fetch(new Request(`http://localhost${apiRoot}/me`, { headers: headersOf('person') }))
    expect(reply.status).toBe(500)
    const text = await reply.text()
    expect(text).not.toContain('workings')
    expect(lines).toHaveLength(1)
    expect(text).toContain(lines[0] && 'bug' in lines[0] ? lines[0].bug : 'a bug')
  })
})

describe('a body', () => {
  const start = (port: number, headers: string[], ...body: (string | Buffer)[]) =>
    raw(
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
  const typed = 'Content-Type: application/json'
  const sized = (bytes: Buffer | string) => `Content-Length: ${Buffer.byteLength(bytes)}`

  it('is refused before it is read when it says that it is too large', async () => {
    const port = gateway.port
    const links = `POST ${apiRoot}/links HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${secrets.person}\r\n${typed}\r\n`
    const said = await raw(port, `${links}Content-Length: ${limits.bodyMaxBytes + 1}\r\n\r\n`)
    expect(said).toMatch(/^HTTP\/1.1 413/)
    expect(said.toLowerCase()).toContain('connection: close')
  })
  it('is read no further than the limit when it does not say', async () => {
    const port = gateway.port
    const links = `POST ${apiRoot}/links HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${secrets.person}\r\n${typed}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const chunk = Buffer.alloc(limits.bodyMaxBytes + 1, 0x20)
    expect(await raw(port, links, `${chunk.length.toString(16)}\r\n`, chunk)).toMatch(/^HTTP\/1.1 413/)
  })
  it('may be just as large as the limit', async () => {
    const body = '{}'.padEnd(limits.bodyMaxBytes, ' ')
    const reply = await request(gateway, '/links', { method: 'POST', headers: headersOf('person', json), body })
    expect(reply.status).toBe(201)
  })
  it('must be UTF-8, JSON, an object, uncompressed and without tricks', async () => {
    const cases: [string, string | Buffer, string[], number][] = [
      ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), [typed], 400],
      ['a byte order mark', Buffer.from('\ufeff{"driver":"external"}'), [typed], 400],
      ['a NUL', '{"driver":"external"}\0', [typed], 400],
      ['no JSON', '{', [typed], 400],
      ['an array', '[]', [typed], 400],
      ['a key twice', '{"driver":"external","driver":"external"}', [typed], 400],
      ['a prototype', '{"__proto__":{"polluted":1},"driver":"external"}', [typed], 400],
      ['a lone surrogate', '{"driver":"external","title":"\\ud800"}', [typed], 400],
      ['compressed', '{}', [typed, 'Content-Encoding: gzip'], 415],
      ['no type', '{"driver":"external"}', [], 415],
      ['right', '{"driver":"external"}', [typed], 201],
    ]
    for (const [name, body, headers, status] of cases)
      expect(await start(gateway.port, [...headers, sized(body)], body), name).toMatch(
        new RegExp(`^HTTP/1.1 ${status}`),
      )
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
  it('has one length', async () => {
    const heard = await start(gateway.port, [typed, 'Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n')
    expect(heard).toMatch(/^HTTP\/1.1 400/)
    expect(await start(gateway.port, [typed, 'Content-Length: 2', 'Content-Length: 3'], '{}')).toMatch(/^HTTP\/1.1 400/)
  })
  it('does not stand with a GET', async () => {
    const reply = await server().fetch(
      Object.defineProperty(new Request(`http://localhost${apiRoot}/me`, { headers: headersOf('person') }), 'body', {
        value: new Blob(['{}']).stream(),
      }),
    )
    expect(await codeOf(reply)).toBe('bad_input')
  })
  it('comes with headers of a bounded size', async () => {
    const heard = await start(gateway.port, [`X-Long: ${'x'.repeat(limits.headersMaxBytes)}`])
    expect(heard).toMatch(/^HTTP\/1.1 431/)
  })
})

const server = () => gateway.server

describe('health', () => {
  it('tells anyone that the gateway is up', async () => {
    expect(await (await fetch(`${gateway.url}/healthz`)).json()).toEqual({ ok: true, version: '1.2.3' })
  })
})

describe('closing', () => {
  it('ends long polls with draining, at once, and leaves what is pending pending', async () => {
    const leaving = await startTestServer()
    const asked = await ask(leaving, await openSession(leaving), 'k')
    const poll = request(leaving, `/requests/${asked.id}?wait=60000`, { headers: headersOf('agent') })
    // The next request on the same server is answered after the poll has been taken in.
    await request(leaving, '/me', { headers: headersOf('person') })
    const beganAt = performance.now()
    const closed = leaving.close()
    expect(await codeOf(await poll)).toBe('draining')
    await closed
    expect(performance.now() - beganAt).toBeLessThan(limits.drainMaxMs)
    await expect(fetch(`${leaving.url}/healthz`)).rejects.toThrow()
  })
})

/** Checks authentication over every transport: host names, origins, tokens, cookies and sign-in. */
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiRoot, pageSecretHeader, pageSecretProtocol } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authHeaders, handshake, post, secrets, sendRaw, startTestServer, type TestServer } from './test-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-server-'))
const socketPath = join(folder, 'gateway.sock')
let gateway: TestServer
let cookie: string
let pageSecret: string
beforeAll(async () => {
  gateway = await startTestServer({ hosts: ['Box.example'], origins: ['https://box.example'] }, { socketPath })
  const { code } = (await (await post(gateway, 'person', '/links', {})).json()) as { code: string }
  const reply = await fetch(`${gateway.url}${apiRoot}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  cookie = reply.headers.get('set-cookie')?.split(';')[0] ?? ''
  pageSecret = ((await reply.json()) as { pageSecret: string }).pageSecret
})
afterAll(async () => {
  await gateway.close()
  rmSync(folder, { recursive: true })
})

type Headers = Record<string, string>
interface ReceivedReply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
}
/** Uses node:http because fetch does not let a test set Host and Origin. */
function sendRequest(
  method: string,
  path: string,
  headers: Headers,
  body?: string,
  target: object = { port: gateway.port, host: '127.0.0.1' },
): Promise<ReceivedReply> {
  return new Promise((resolve, reject) => {
    const req = httpRequest({ ...target, method, path, headers, agent: false }, res => {
      resolve({ status: res.statusCode ?? 0, headers: res.headers })
      res.destroy()
    })
    req.on('error', reject)
    req.end(body)
  })
}

/** Sends one request per transport. The write request is `POST /links`, which needs no input. */
const transports = {
  read: (headers: Headers) => sendRequest('GET', `${apiRoot}/sessions`, headers).then(reply => reply.status),
  write: (headers: Headers) =>
    sendRequest('POST', `${apiRoot}/links`, { 'content-type': 'application/json', ...headers }, '{}').then(
      reply => reply.status,
    ),
  stream: (headers: Headers) => sendRequest('GET', `${apiRoot}/events`, headers).then(reply => reply.status),
  /** Browsers cannot set headers of a handshake, so the page sends its secret as a subprotocol. */
  socket: ({ [pageSecretHeader]: secret, ...headers }: Headers) =>
    handshake(gateway, headers, undefined, secret === undefined ? [] : ['other', `${pageSecretProtocol}${secret}`]),
  'read over the Unix socket': (headers: Headers) =>
    sendRequest('GET', `${apiRoot}/sessions`, headers, undefined, { socketPath }).then(reply => reply.status),
  'write over the Unix socket': (headers: Headers) =>
    sendRequest('POST', `${apiRoot}/links`, { 'content-type': 'application/json', ...headers }, '{}', {
      socketPath,
    }).then(reply => reply.status),
  'socket over the Unix socket': ({ [pageSecretHeader]: secret, ...headers }: Headers) =>
    handshake(
      gateway,
      headers,
      undefined,
      secret === undefined ? [] : ['other', `${pageSecretProtocol}${secret}`],
      socketPath,
    ),
}
type TransportName = keyof typeof transports
const names = Object.keys(transports) as TransportName[] // `transports` is a literal, so it has no other keys
const successStatus: Record<TransportName, number> = {
  read: 200,
  write: 201,
  stream: 200,
  socket: 101,
  'read over the Unix socket': 200,
  'write over the Unix socket': 201,
  'socket over the Unix socket': 101,
}

const bearer = () => authHeaders('person')
/** The headers that the page sends: its cookie and its secret. */
const page = () => ({ cookie, [pageSecretHeader]: pageSecret })
const ownOrigin = (host = 'localhost') => `http://${host}:${gateway.port}`
const badOrigins = () => [
  'http://evil.test',
  'null',
  'http://localhost',
  'http://localhost:1',
  `http://localhost.evil.test:${gateway.port}`,
  `http://127.0.0.1.evil.test:${gateway.port}`,
  `https://localhost:${gateway.port}`,
  `HTTP://LOCALHOST:${gateway.port}`,
  `http://localhost.:${gateway.port}`,
  `http://localhost:${gateway.port}/`,
  'http://box.example.evil.test',
]
const goodHosts = () => [
  ...['localhost', 'LOCALHOST', '127.0.0.1', '[::1]', 'box.example'].map(name => `${name}:${gateway.port}`),
  'BOX.example',
  'localhost',
]
const badHosts = () => [
  ...[
    'evil.test',
    '127.1',
    '0',
    '0x7f.1',
    '2130706433',
    '0.0.0.0',
    '[::]',
    'localhost.',
    'localhost.evil.test',
    'x@localhost',
  ].map(name => `${name}:${gateway.port}`),
  '127.0.0.1',
  'localhost:1',
  `localhost:${gateway.port}, evil.test`,
]

describe.each(names)('authentication of a %s request', name => {
  const send = transports[name]

  it('authentication accepts a bearer token without an Origin header (B8)', async () =>
    expect(await send(bearer())).toBe(successStatus[name]))
  it('authentication refuses a request without a credential (B8)', async () => expect(await send({})).toBe(401))
  it('authentication refuses an unknown token, another scheme and an empty token', async () => {
    for (const authorization of ['Bearer nonsense', 'Bearer', 'Bearer ', `Basic ${secrets.person}`, secrets.person])
      expect(await send({ authorization }), authorization).toBe(401)
  })
  it('authentication does not fall back to the cookie if the token is wrong', async () =>
    expect(await send({ authorization: 'Bearer nonsense', ...page(), origin: ownOrigin() })).toBe(401))
  it('authentication accepts only the host names of the gateway (B5, B6, B9)', async () => {
    for (const host of goodHosts()) expect(await send({ ...bearer(), host }), host).toBe(successStatus[name])
    for (const host of badHosts()) expect(await send({ ...bearer(), host }), host).toBe(421)
  })
  it('authentication accepts only the origins of the gateway (B3, B4)', async () => {
    for (const origin of [ownOrigin(), ownOrigin('127.0.0.1'), ownOrigin('[::1]'), 'https://box.example'])
      expect(await send({ ...bearer(), origin }), origin).toBe(successStatus[name])
    for (const origin of badOrigins()) expect(await send({ ...bearer(), origin }), origin).toBe(403)
  })
  it('authentication refuses pages of other sites even with a valid token (B13)', async () => {
    for (const site of ['cross-site', 'same-site', 'nonsense'])
      expect(await send({ ...bearer(), 'sec-fetch-site': site }), site).toBe(403)
    for (const site of ['same-origin', 'none'])
      expect(await send({ ...bearer(), 'sec-fetch-site': site }), site).toBe(successStatus[name])
  })
  it('authentication accepts a cookie only from the gateway’s own page', async () => {
    expect(await send({ ...page(), origin: ownOrigin() })).toBe(successStatus[name])
    expect(await send({ ...page(), 'sec-fetch-site': 'same-origin' })).toBe(successStatus[name])
    expect(await send({ ...page(), origin: 'http://evil.test' })).toBe(403)
  })
  it('F2: authentication refuses a cookie without the secret of the page, with any other headers', async () => {
    const own = { cookie, origin: ownOrigin(), 'sec-fetch-site': 'same-origin', 'x-holdpoint': '1' }
    expect(await send(own)).toBe(401)
    for (const secret of ['', 'nonsense', cookie.split('=')[1] as string, secrets.person])
      expect(await send({ ...own, [pageSecretHeader]: secret }), secret).toBe(401)
  })
  it('F2: authentication refuses the secret of the page without its cookie, and as a token', async () => {
    expect(await send({ [pageSecretHeader]: pageSecret, origin: ownOrigin() })).toBe(401)
    expect(await send({ authorization: `Bearer ${pageSecret}` })).toBe(401)
  })
  it('authentication refuses two cookies of the same name, because another site may have planted one of them (B10)', async () =>
    expect(await send({ ...page(), cookie: `${cookie}; ${cookie}x`, origin: ownOrigin() })).toBe(401))
})

it('a write request or a socket with a cookie needs the gateway’s own origin', async () => {
  for (const send of [transports.write, transports.socket]) {
    expect(await send(page())).toBe(403)
    expect(await send({ ...page(), 'sec-fetch-site': 'none' })).toBe(403)
  }
  expect(await transports.read(page())).toBe(200)
})

const readNames = ['read', 'stream', 'read over the Unix socket'] as const
const writeNames = ['write', 'socket', 'write over the Unix socket', 'socket over the Unix socket'] as const

it('every transport accepts or refuses the same combinations of headers (B7)', async () => {
  const some = (values: readonly string[]) => fc.option(fc.constantFrom(...values), { nil: undefined })
  const headers = fc.record({
    host: some([...goodHosts(), ...badHosts()]),
    origin: some([ownOrigin(), ownOrigin(), ...badOrigins()]),
    'sec-fetch-site': some(['same-origin', 'none', 'cross-site', 'same-site']),
    authorization: some([`Bearer ${secrets.person}`, 'Bearer nonsense']),
    cookie: some([cookie, cookie, 'holdpoint_1=planted']),
    [pageSecretHeader]: some([pageSecret, pageSecret, 'nonsense']),
  })
  await fc.assert(
    fc.asyncProperty(headers, async mix => {
      const sent = Object.fromEntries(Object.entries(mix).filter(([, value]) => value !== undefined)) as Headers // undefined values are filtered out
      const sendOver = async (name: TransportName) =>
        (await transports[name](sent)) === successStatus[name] ? 'accepted' : 'refused'
      const reads = new Set(await Promise.all(readNames.map(sendOver)))
      const writes = new Set(await Promise.all(writeNames.map(sendOver)))
      // Without a token, an Origin or `Sec-Fetch-Site: same-origin`, a cookie with the page secret is enough to read but not to write. In all other cases the transports agree.
      const isCookieOnly = !sent.authorization && !sent.origin && sent['sec-fetch-site'] !== 'same-origin'
      expect(reads.size).toBe(1)
      expect(writes.size).toBe(1)
      if (!isCookieOnly) expect(reads).toEqual(writes)
    }),
    { numRuns: 60 },
  )
})

it('a CORS preflight request is never allowed (B3)', async () => {
  for (const origin of [...badOrigins(), ownOrigin()]) {
    const reply = await sendRequest('OPTIONS', `${apiRoot}/requests`, {
      origin,
      'access-control-request-method': 'POST',
    })
    expect([403, 405]).toContain(reply.status)
    expect(Object.keys(reply.headers).filter(name => name.startsWith('access-control'))).toEqual([])
  }
})

it('a body of a type that an HTML form can send is refused (B11)', async () => {
  for (const type of [
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/jsonp',
  ])
    expect(await transports.write({ ...bearer(), 'content-type': type }), type).toBe(415)
  for (const type of ['application/json', 'Application/JSON; charset=UTF-8'])
    expect(await transports.write({ ...bearer(), 'content-type': type }), type).toBe(201)
  expect((await sendRequest('POST', `${apiRoot}/links`, bearer())).status).toBe(201)
  expect((await sendRequest('POST', `${apiRoot}/links`, { ...bearer(), 'content-type': 'text/plain' })).status).toBe(
    415,
  )
})

it('a credential in the URL is refused on every path', async () => {
  for (const path of ['/', '/healthz', `${apiRoot}/sessions`, `${apiRoot}/events`, `${apiRoot}/nothing`])
    expect((await sendRequest('GET', `${path}?token=${secrets.person}`, bearer())).status, path).toBe(400)
  expect(await handshake(gateway, bearer(), `${apiRoot}/socket?access_token=${secrets.person}`)).toBe(400)
})

it('a request with two Host headers or a host in the request line is refused (B6)', async () => {
  const auth = `Authorization: Bearer ${secrets.person}\r\nConnection: close\r\n\r\n`
  const host = `Host: localhost:${gateway.port}\r\n`
  expect(await sendRaw(gateway.port, `GET ${apiRoot}/me HTTP/1.1\r\n${host}Host: evil.test\r\n${auth}`)).toMatch(
    /^HTTP\/1.1 421/,
  )
  expect(await sendRaw(gateway.port, `GET ${apiRoot}/me HTTP/1.1\r\n${host}${host}${auth}`)).toMatch(/^HTTP\/1.1 421/)
  expect(
    await sendRaw(gateway.port, `GET http://localhost:${gateway.port}${apiRoot}/me HTTP/1.1\r\n${host}${auth}`),
  ).toMatch(/^HTTP\/1.1 421/)
  expect(await sendRaw(gateway.port, `GET ${apiRoot}/me HTTP/1.1\r\n${auth}`)).toMatch(/^HTTP\/1.1 400/)
  expect(
    await sendRaw(gateway.port, `GET ${apiRoot}/me HTTP/1.1\r\n${host}Authorization: Bearer x\r\n${auth}`),
  ).toMatch(/^HTTP\/1.1 400/)
  expect(await sendRaw(gateway.port, `GET ${apiRoot}/me HTTP/1.1\r\n${host}${auth}`)).toMatch(/^HTTP\/1.1 200/)
})

it('in-process requests pass the same checks', async () => {
  const send = async (url: string, headers: Headers) =>
    (await gateway.server.fetch(new Request(`${url}${apiRoot}/me`, { headers }))).status
  expect(await send('http://localhost', bearer())).toBe(200)
  expect(await send('http://localhost', {})).toBe(401)
  expect(await send('http://evil.test', bearer())).toBe(421)
  expect(await send('http://evil.test', { ...bearer(), host: 'localhost' })).toBe(421)
  expect(await send('http://localhost', { ...bearer(), origin: 'http://evil.test' })).toBe(403)
})

it('sign-in sets an HttpOnly, SameSite cookie, and sign-out revokes the cookie', async () => {
  const { code } = (await (await post(gateway, 'person', '/links', {})).json()) as { code: string }
  const signIn = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }) }
  const reply = await fetch(`${gateway.url}${apiRoot}/sign-in`, signIn)
  const setCookie = reply.headers.get('set-cookie') ?? ''
  const body = (await reply.json()) as { pageSecret: string }
  expect(body).toEqual({
    person: 'ada',
    personId: expect.stringMatching(/^per_/),
    role: 'owner',
    pageSecret: expect.stringMatching(/^[\w-]{40,}$/),
  })
  expect(setCookie).toMatch(
    new RegExp(`^holdpoint_${gateway.port}=[\\w-]{20,}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000$`),
  )
  expect((await fetch(`${gateway.url}${apiRoot}/sign-in`, signIn)).status).toBe(401)
  const signedIn = {
    cookie: setCookie.split(';')[0] as string,
    origin: ownOrigin(),
    [pageSecretHeader]: body.pageSecret,
  }
  expect(await transports.read(signedIn)).toBe(200)
  expect(await transports.read({ ...signedIn, [pageSecretHeader]: pageSecret })).toBe(401)
  const out = await sendRequest('POST', `${apiRoot}/sign-out`, signedIn)
  expect(out.headers['set-cookie']?.[0]).toMatch(/=; .*Max-Age=0$/)
  expect(await transports.read(signedIn)).toBe(401)
})

it('a sign-in from a page of another site is refused', async () => {
  const headers = { 'content-type': 'application/json', origin: 'http://evil.test' }
  expect((await sendRequest('POST', `${apiRoot}/sign-in`, headers, '{"code":"x"}')).status).toBe(403)
})

it('describeLink names the person of an unused link without using it, and refuses a used link', async () => {
  const { code } = (await (await post(gateway, 'person', '/links', {})).json()) as { code: string }
  const send = (path: string) =>
    fetch(`${gateway.url}${apiRoot}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
  for (const _ of [1, 2]) expect(await (await send('/sign-in/describe')).json()).toMatchObject({ person: 'ada' })
  expect((await send('/sign-in')).status).toBe(200)
  expect((await send('/sign-in/describe')).status).toBe(401)
})

import { type IncomingMessage, request as send } from 'node:http'
import { apiRoot } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handshake, headersOf, post, raw, secrets, startTestServer, type TestServer } from './test-server.ts'

let gateway: TestServer
let cookie: string
beforeAll(async () => {
  gateway = await startTestServer({ hosts: ['Box.example'], origins: ['https://box.example'] })
  const { code } = (await (await post(gateway, 'person', '/links', {})).json()) as { code: string }
  const reply = await fetch(`${gateway.url}${apiRoot}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  cookie = reply.headers.get('set-cookie')?.split(';')[0] ?? ''
})
afterAll(() => gateway.close())

type Headers = Record<string, string>
interface Heard {
  readonly status: number
  readonly headers: IncomingMessage['headers']
}
/** node:http, because fetch does not let a test choose Host and Origin. */
function ask(method: string, path: string, headers: Headers, body?: string): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const req = send({ port: gateway.port, host: '127.0.0.1', method, path, headers, agent: false }, res => {
      resolve({ status: res.statusCode ?? 0, headers: res.headers })
      res.destroy()
    })
    req.on('error', reject)
    req.end(body)
  })
}

/** Every way in. A change is `POST /links`, which has no input. */
const doors = {
  read: (headers: Headers) => ask('GET', `${apiRoot}/sessions`, headers).then(reply => reply.status),
  write: (headers: Headers) =>
    ask('POST', `${apiRoot}/links`, { 'content-type': 'application/json', ...headers }, '{}').then(
      reply => reply.status,
    ),
  stream: (headers: Headers) => ask('GET', `${apiRoot}/events`, headers).then(reply => reply.status),
  socket: (headers: Headers) => handshake(gateway, headers),
}
type DoorName = keyof typeof doors
const names = Object.keys(doors) as DoorName[] // the keys of a literal
const welcome = { read: 200, write: 201, stream: 200, socket: 101 }

const bearer = () => headersOf('person')
const own = (host = 'localhost') => `http://${host}:${gateway.port}`
const badOrigins = () => [
  'http://evil.test',
  'null',
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
  'localhost',
  'localhost:1',
  `localhost:${gateway.port}, evil.test`,
]

describe.each(names)('the gate, for %s', name => {
  const knock = doors[name]

  it('lets a bearer in without an Origin (B8)', async () => expect(await knock(bearer())).toBe(welcome[name]))
  it('lets nobody in without a credential (B8)', async () => expect(await knock({})).toBe(401))
  it('knows a wrong token, a wrong scheme and an empty one', async () => {
    for (const authorization of ['Bearer nonsense', 'Bearer', 'Bearer ', `Basic ${secrets.person}`, secrets.person])
      expect(await knock({ authorization }), authorization).toBe(401)
  })
  it('does not fall back to the cookie when the token is wrong', async () =>
    expect(await knock({ authorization: 'Bearer nonsense', cookie, origin: own(), 'x-holdpoint': '1' })).toBe(401))
  it('answers under its own names only (B5, B6, B9)', async () => {
    for (const host of goodHosts()) expect(await knock({ ...bearer(), host }), host).toBe(welcome[name])
    for (const host of badHosts()) expect(await knock({ ...bearer(), host }), host).toBe(421)
  })
  it('takes its own origins and no other (B3, B4)', async () => {
    for (const origin of [own(), own('127.0.0.1'), own('[::1]'), 'https://box.example'])
      expect(await knock({ ...bearer(), origin }), origin).toBe(welcome[name])
    for (const origin of badOrigins()) expect(await knock({ ...bearer(), origin }), origin).toBe(403)
  })
  it('refuses pages of other sites, whatever they carry (B13)', async () => {
    for (const site of ['cross-site', 'same-site', 'nonsense'])
      expect(await knock({ ...bearer(), 'sec-fetch-site': site }), site).toBe(403)
    for (const site of ['same-origin', 'none'])
      expect(await knock({ ...bearer(), 'sec-fetch-site': site }), site).toBe(welcome[name])
  })
  it('believes a cookie only from our own page', async () => {
    expect(await knock({ cookie, origin: own(), 'x-holdpoint': '1' })).toBe(welcome[name])
    expect(await knock({ cookie, 'sec-fetch-site': 'same-origin', 'x-holdpoint': '1' })).toBe(welcome[name])
    expect(await knock({ cookie })).toBe(403)
    expect(await knock({ cookie, origin: 'http://evil.test', 'x-holdpoint': '1' })).toBe(403)
  })
  it('believes neither of two cookies of its name: one was planted (B10)', async () =>
    expect(await knock({ cookie: `${cookie}; ${cookie}x`, origin: own(), 'x-holdpoint': '1' })).toBe(401))
})

it('needs x-holdpoint for a change by cookie, and a change or a socket needs more than that header', async () => {
  expect(await doors.write({ cookie, origin: own() })).toBe(403)
  expect(await doors.write({ cookie, 'x-holdpoint': '1' })).toBe(403)
  expect(await doors.socket({ cookie, 'x-holdpoint': '1' })).toBe(403)
  expect(await doors.write({ cookie, 'x-holdpoint': '1', 'sec-fetch-site': 'none' })).toBe(403)
  expect(await doors.read({ cookie, 'x-holdpoint': '1' })).toBe(200)
})

it('gives one verdict on every transport, for any mix of headers (B7)', async () => {
  const some = (values: readonly string[]) => fc.option(fc.constantFrom(...values), { nil: undefined })
  const headers = fc.record({
    host: some([...goodHosts(), ...badHosts()]),
    origin: some([own(), own(), ...badOrigins()]),
    'sec-fetch-site': some(['same-origin', 'none', 'cross-site', 'same-site']),
    authorization: some([`Bearer ${secrets.person}`, 'Bearer nonsense']),
    cookie: some([cookie, 'holdpoint_1=planted']),
  })
  await fc.assert(
    fc.asyncProperty(headers, async mix => {
      const given = Object.fromEntries(
        Object.entries({ ...mix, 'x-holdpoint': '1' }).filter(([, value]) => value !== undefined),
      ) as Headers // what is undefined was left out
      const verdicts = await Promise.all(
        names.map(async name => ((await doors[name](given)) === welcome[name] ? 'in' : 'out')),
      )
      // Reading by cookie alone is let through where the header proves a page of ours; everything else agrees.
      const byCookie = !given.authorization && !given.origin && given['sec-fetch-site'] !== 'same-origin'
      const [read, write, stream, socket] = verdicts
      expect(read).toBe(stream)
      expect(write).toBe(socket)
      if (!byCookie) expect(read).toBe(write)
    }),
    { numRuns: 60 },
  )
})

it('grants no preflight (B3)', async () => {
  for (const origin of [...badOrigins(), own()]) {
    const reply = await ask('OPTIONS', `${apiRoot}/requests`, { origin, 'access-control-request-method': 'POST' })
    expect([403, 405]).toContain(reply.status)
    expect(Object.keys(reply.headers).filter(name => name.startsWith('access-control'))).toEqual([])
  }
})

it('takes JSON and nothing that a form can send (B11)', async () => {
  for (const type of [
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/jsonp',
  ])
    expect(await doors.write({ ...bearer(), 'content-type': type }), type).toBe(415)
  for (const type of ['application/json', 'Application/JSON; charset=UTF-8'])
    expect(await doors.write({ ...bearer(), 'content-type': type }), type).toBe(201)
  expect((await ask('POST', `${apiRoot}/links`, bearer())).status).toBe(201)
  expect((await ask('POST', `${apiRoot}/links`, { ...bearer(), 'content-type': 'text/plain' })).status).toBe(415)
})

it('takes no credential from a URL, on any path', async () => {
  for (const path of ['/', '/healthz', `${apiRoot}/sessions`, `${apiRoot}/events`, `${apiRoot}/nothing`])
    expect((await ask('GET', `${path}?token=${secrets.person}`, bearer())).status, path).toBe(400)
  expect(await handshake(gateway, bearer(), `${apiRoot}/socket?access_token=${secrets.person}`)).toBe(400)
})

it('refuses two Host headers and a request line that names a host of its own (B6)', async () => {
  const auth = `Authorization: Bearer ${secrets.person}\r\nConnection: close\r\n\r\n`
  const host = `Host: localhost:${gateway.port}\r\n`
  expect(await raw(gateway.port, `GET ${apiRoot}/me HTTP/1.1\r\n${host}Host: evil.test\r\n${auth}`)).toMatch(
    /^HTTP\/1.1 421/,
  )
  expect(await raw(gateway.port, `GET ${apiRoot}/me HTTP/1.1\r\n${host}${host}${auth}`)).toMatch(/^HTTP\/1.1 421/)
  expect(
    await raw(gateway.port, `GET http://localhost:${gateway.port}${apiRoot}/me HTTP/1.1\r\n${host}${auth}`),
  ).toMatch(/^HTTP\/1.1 421/)
  expect(await raw(gateway.port, `GET ${apiRoot}/me HTTP/1.1\r\n${auth}`)).toMatch(/^HTTP\/1.1 400/)
  expect(await raw(gateway.port, `GET ${apiRoot}/me HTTP/1.1\r\n${host}Authorization: Bearer x\r\n${auth}`)).toMatch(
    /^HTTP\/1.1 400/,
  )
  expect(await raw(gateway.port, `GET ${apiRoot}/me HTTP/1.1\r\n${host}${auth}`)).toMatch(/^HTTP\/1.1 200/)
})

it('holds in process, too', async () => {
  const knock = async (url: string, headers: Headers) =>
    (await gateway.server.fetch(new Request(`${url}${apiRoot}/me`, { headers }))).status
  expect(await knock('http://localhost', bearer())).toBe(200)
  expect(await knock('http://localhost', {})).toBe(401)
  expect(await knock('http://evil.test', bearer())).toBe(421)
  expect(await knock('http://evil.test', { ...bearer(), host: 'localhost' })).toBe(421)
  expect(await knock('http://localhost', { ...bearer(), origin: 'http://evil.test' })).toBe(403)
})

it('sets a cookie that scripts cannot read and other sites cannot send, and signing out ends it', async () => {
  const { code } = (await (await post(gateway, 'person', '/links', {})).json()) as { code: string }
  const signIn = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }) }
  const reply = await fetch(`${gateway.url}${apiRoot}/sign-in`, signIn)
  const set = reply.headers.get('set-cookie') ?? ''
  expect(await reply.json()).toEqual({ person: 'ada' })
  expect(set).toMatch(
    new RegExp(`^holdpoint_${gateway.port}=[\\w-]{20,}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000$`),
  )
  expect((await fetch(`${gateway.url}${apiRoot}/sign-in`, signIn)).status).toBe(401)
  const page = { cookie: set.split(';')[0] as string, origin: own(), 'x-holdpoint': '1' }
  expect(await doors.read(page)).toBe(200)
  const out = await ask('POST', `${apiRoot}/sign-out`, page)
  expect(out.headers['set-cookie']?.[0]).toMatch(/=; .*Max-Age=0$/)
  expect(await doors.read(page)).toBe(401)
})

it('refuses a sign-in that a page of another site starts', async () => {
  const headers = { 'content-type': 'application/json', origin: 'http://evil.test' }
  expect((await ask('POST', `${apiRoot}/sign-in`, headers, '{"code":"x"}')).status).toBe(403)
})

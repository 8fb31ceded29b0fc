/** Checks every decision of the authenticator with a real gateway: hosts, origins, sites, and which credential counts for which access. */
import { type Gateway, openGateway } from '@holdpoint/engine'
import { Fault, type FaultCode, limits, pageSecretHeader, pageSecretProtocol } from '@holdpoint/protocol'
import { openMemory } from '@holdpoint/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AccessLevel, createAuthenticator, refuseAttempt, requireCaller } from '../src/authenticate.ts'
import type { IncomingRequest } from '../src/http-message.ts'
import { WrongAttempts } from '../src/wrong-attempts.ts'
import { secrets } from './test-server.ts'

let gateway: Gateway
let cookie: string
let pageSecret: string
beforeAll(async () => {
  gateway = await openGateway({ store: await openMemory() })
  const owner = await gateway.ensureToken(secrets.person, 'owner', 'ada')
  const { body } = await gateway.dispatch(owner, 'makeLink', {})
  const signedIn = await gateway.redeemLink(body.code)
  cookie = `holdpoint_4747=${signedIn.cookie}`
  pageSecret = signedIn.pageSecret
})
afterAll(() => gateway.close())

const port = 4747
const host = `localhost:${port}`
const origin = `http://${host}`
const allAccess: readonly AccessLevel[] = ['page', 'public', 'read', 'write', 'socket']
const withCredential: readonly AccessLevel[] = ['read', 'write', 'socket']
type Headers = Readonly<Record<string, string | undefined>>
function incoming(headers: Headers, more: Partial<IncomingRequest> = {}): IncomingRequest {
  return {
    transport: 'tcp',
    method: 'GET',
    target: '/api/v1/me',
    repeatedHeader: null,
    headerCount: 5,
    hasBody: false,
    localAddress: '127.0.0.1',
    bodyBytes: null,
    source: '192.0.2.1',
    header: name => headers[name],
    body: async () => Buffer.alloc(0),
    onClose: () => {},
    protect: () => {},
    ...more,
  }
}
type Options = Partial<Parameters<typeof createAuthenticator>[0]>
async function authenticate(
  headers: Headers,
  access: AccessLevel = 'read',
  more: Partial<IncomingRequest> = {},
  options: Options = {},
) {
  const authenticator = createAuthenticator({ gateway, port, wrongAttempts: new WrongAttempts(), ...options })
  return authenticator(incoming({ host, ...headers }, more), access)
}
const bearer = { authorization: `Bearer ${secrets.person}` }
const outcome = (...args: Parameters<typeof authenticate>): Promise<string> =>
  authenticate(...args).then(
    caller => caller?.name ?? 'nobody',
    (fault: Fault) => fault.code,
  )

describe('a request without a credential', () => {
  it('a request without a credential may read files of the page and call public operations, and nothing else', async () => {
    const outcomes = await Promise.all(allAccess.map(access => outcome({}, access)))
    expect(outcomes).toEqual(['nobody', 'nobody', 'unauthenticated', 'unauthenticated', 'unauthenticated'])
  })
  it('a request for a public operation has no caller even if it contains a valid credential', async () => {
    for (const access of ['page', 'public'] as const) expect(await outcome(bearer, access)).toBe('nobody')
  })
})

describe('the Host header', () => {
  it.each(allAccess)('the Host header must name the gateway (%s)', async access => {
    const accepted = access === 'page' || access === 'public' ? 'nobody' : 'ada'
    for (const good of [host, `127.0.0.1:${port}`, `[::1]:${port}`, 'localhost', `LocalHost:${port}`])
      expect(await outcome({ ...bearer, host: good }, access), good).toBe(accepted)
    for (const bad of ['evil.test', '127.0.0.1', '[::1]', 'localhost:80', `localhost:${port}0`, ''])
      expect(await outcome({ ...bearer, host: bad }, access), bad).toBe('wrong_host')
    expect(await outcome({ ...bearer, host: undefined }, access)).toBe('bad_input')
  })
  it('the Host header may name an additional host with or without the port, in any case', async () => {
    const options = { hosts: ['Box.example'] }
    for (const good of ['box.example', 'BOX.example', `box.example:${port}`])
      expect(await outcome({ ...bearer, host: good }, 'read', {}, options), good).toBe('ada')
    for (const bad of ['box.example:1', 'x.box.example'])
      expect(await outcome({ ...bearer, host: bad }, 'read', {}, options), bad).toBe('wrong_host')
  })
  it('the Host header may omit the port if the gateway listens on port 80', async () => {
    const options = { port: 80 }
    for (const good of ['localhost', '127.0.0.1', '[::1]'])
      expect(await outcome({ ...bearer, host: good }, 'read', {}, options), good).toBe('ada')
    expect(await outcome({ ...bearer, host: 'localhost:80' }, 'read', {}, options)).toBe('wrong_host')
  })
  it('the Host header must not be sent twice, and the request line must not contain another host', async () => {
    expect(await outcome(bearer, 'read', { repeatedHeader: 'host' })).toBe('wrong_host')
    expect(await outcome(bearer, 'read', { target: `http://${host}/api/v1/me` })).toBe('wrong_host')
    expect(await outcome(bearer, 'read', { target: '*' })).toBe('wrong_host')
  })
})

describe('the headers of a request', () => {
  it('the headers of a request are limited in number', async () => {
    expect(await outcome(bearer, 'read', { headerCount: limits.headersMax })).toBe('ada')
    expect(await outcome(bearer, 'read', { headerCount: limits.headersMax + 1 })).toBe('headers_too_large')
  })
  it('the headers of a request must not be repeated', async () => {
    expect(await outcome(bearer, 'read', { repeatedHeader: 'authorization' })).toBe('bad_input')
  })
})

describe('a credential in the URL', () => {
  it.each(['access_token', 'token', 'auth', 'authorization', 'bearer', 'secret', 'password', 'code', 'TOKEN'])(
    'a credential in the URL is refused if its name is %s',
    async name => {
      for (const access of allAccess) {
        expect(await outcome(bearer, access, { target: `/x?${name}=a` })).toBe('bad_input')
        expect(await outcome(bearer, access, { target: `/x?a=b&${name}=a` })).toBe('bad_input')
      }
    },
  )
  it('a parameter or path that only resembles a credential in the URL is accepted', async () => {
    for (const target of ['/x?tokens=a', '/x?mytoken=a', '/token=a', '/x?a=token'])
      expect(await outcome(bearer, 'read', { target }), target).toBe('ada')
  })
})

describe('the Origin header', () => {
  it.each(allAccess)('the Origin header must name the gateway (%s)', async access => {
    const accepted = access === 'page' || access === 'public' ? 'nobody' : 'ada'
    const options = { hosts: ['box.example'], origins: ['https://proxy.example'] }
    for (const good of [origin, `http://127.0.0.1:${port}`, 'http://box.example', 'https://proxy.example'])
      expect(await outcome({ ...bearer, origin: good }, access, {}, options), good).toBe(accepted)
    for (const bad of ['null', '', 'http://evil.test', 'http://localhost', 'http://proxy.example', `https://${host}`])
      expect(await outcome({ ...bearer, origin: bad }, access, {}, options), bad).toBe('wrong_origin')
  })
})

describe('the Sec-Fetch-Site header', () => {
  it.each(allAccess)('the Sec-Fetch-Site header must not name another site (%s)', async access => {
    const accepted = access === 'page' || access === 'public' ? 'nobody' : 'ada'
    for (const site of ['same-origin', 'none'])
      expect(await outcome({ ...bearer, 'sec-fetch-site': site }, access), site).toBe(accepted)
    for (const site of ['cross-site', 'same-site', ''])
      expect(await outcome({ ...bearer, 'sec-fetch-site': site }, access), site).toBe(
        access === 'page' ? 'nobody' : 'wrong_origin',
      )
  })
})

describe('a token', () => {
  it.each(withCredential)('a token is accepted without other headers (%s)', async access => {
    expect(await authenticate(bearer, access)).toMatchObject({ name: 'ada', role: 'owner', via: 'api' })
    expect(await outcome({ authorization: `bearer ${secrets.person}` }, access)).toBe('ada')
  })
  it.each([
    'Bearer',
    'Bearer ',
    secrets.person,
    `Basic ${secrets.person}`,
    `Bearer  ${secrets.person}`,
    `Bearer ${secrets.person} `,
    ` Bearer ${secrets.person}`,
    `Bearer ${secrets.person}\u00e9`,
    `Bearer ${'x'.repeat(513)}`,
  ])('the header %j is refused, because it must be “Bearer”, a space and the token', async authorization => {
    await expect(authenticate({ authorization, cookie, origin, [pageSecretHeader]: pageSecret })).rejects.toMatchObject(
      {
        code: 'unauthenticated',
        message: expect.stringContaining('must consist of'),
      },
    )
  })
  it('a token of the longest possible length is looked up', async () => {
    await expect(authenticate({ authorization: `Bearer ${'x'.repeat(512)}` })).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringContaining('unknown, expired or revoked'),
    })
  })
  it('a caller whose token arrives over the Unix socket counts as a command', async () => {
    expect(await authenticate(bearer, 'read', { transport: 'unixSocket' })).toMatchObject({ via: 'cli' })
    expect(await authenticate(bearer, 'read', { transport: 'inProcess' })).toMatchObject({ via: 'api' })
  })
})

describe('a cookie', () => {
  const page = () => ({ cookie, [pageSecretHeader]: pageSecret })
  it('a cookie is accepted from the page, with its secret and the gateway’s own origin or site', async () => {
    for (const own of [{ origin }, { 'sec-fetch-site': 'same-origin' }]) {
      for (const access of ['read', 'write'] as const)
        expect(await authenticate({ ...page(), ...own }, access)).toMatchObject({ name: 'ada', via: 'page' })
    }
    expect(await authenticate({ ...page(), origin }, 'read', { transport: 'unixSocket' })).toMatchObject({
      via: 'page',
    })
  })
  it('a cookie needs the gateway’s own origin or site unless the request only reads', async () => {
    for (const more of [{}, { 'sec-fetch-site': 'none' }]) {
      expect(await outcome({ ...page(), ...more }, 'read')).toBe('ada')
      expect(await outcome({ ...page(), ...more }, 'write')).toBe('wrong_origin')
      const socket = { cookie, 'sec-websocket-protocol': `${pageSecretProtocol}${pageSecret}`, ...more }
      expect(await outcome(socket, 'socket')).toBe('wrong_origin')
    }
  })
  it('F2: a cookie is refused without the secret of the page', async () => {
    for (const secret of [undefined, ''])
      await expect(authenticate({ cookie, origin, [pageSecretHeader]: secret })).rejects.toMatchObject({
        code: 'unauthenticated',
        message: expect.stringContaining('holdpoint link'),
      })
    expect(await outcome({ cookie, origin, [pageSecretHeader]: 'wrong' })).toBe('unauthenticated')
    expect(await outcome({ origin, [pageSecretHeader]: pageSecret })).toBe('unauthenticated')
  })
  it('F2: a cookie is accepted for a socket only with the secret among its subprotocols', async () => {
    const send = (protocols: string | undefined, more: Headers = {}) =>
      outcome({ cookie, origin, 'sec-websocket-protocol': protocols, ...more }, 'socket')
    const own = `${pageSecretProtocol}${pageSecret}`
    for (const good of [own, `other, ${own}`, `other,${own} ,more`]) expect(await send(good), good).toBe('ada')
    for (const bad of [undefined, 'other', pageSecret, `x${own}`, `${own}x`, pageSecretProtocol])
      expect(await send(bad), bad).toBe('unauthenticated')
    expect(await send(undefined, { [pageSecretHeader]: pageSecret })).toBe('unauthenticated')
    expect(await outcome({ cookie, origin, 'sec-websocket-protocol': own }, 'read')).toBe('unauthenticated')
  })
  it('a cookie is not used if the request also has a token', async () => {
    expect(await outcome({ ...page(), origin, authorization: 'Bearer wrong' })).toBe('unauthenticated')
  })
})

describe('a wrong credential', () => {
  it('A8: a wrong credential gets `too_many` after a while, and the gateway records this; valid credentials and other sources still work', async () => {
    const wrongAttempts = new WrongAttempts(() => 0)
    const recorded: unknown[] = []
    const counted: Pick<Gateway, 'authenticate' | 'recordRefusal'> = {
      authenticate: gateway.authenticate,
      recordRefusal: async attempt => void recorded.push(attempt),
    }
    const send = (headers: Headers, source = '192.0.2.1') =>
      outcome(headers, 'read', { source }, { gateway: counted, wrongAttempts })
    const wrong = { authorization: 'Bearer wrong' }
    for (let i = 0; i < limits.wrongAttemptsMax; i++) expect(await send(wrong)).toBe('unauthenticated')
    expect(recorded).toEqual([])
    expect(await send(wrong)).toBe('too_many')
    expect(recorded).toEqual([{ what: 'authenticate', code: 'too_many', by: '192.0.2.1' }])
    expect(await send(bearer)).toBe('ada')
    expect(await send(wrong, '192.0.2.2')).toBe('unauthenticated')
  })
  it('A8: a wrong credential is recorded with the access that was attempted', async () => {
    const recorded: unknown[] = []
    const refusing = { recordRefusal: async (attempt: unknown) => void recorded.push(attempt) }
    const wrongAttempts = new WrongAttempts(() => 0)
    const fault = new Fault('unauthenticated', 'wrong')
    const refuse = () => refuseAttempt(refusing, wrongAttempts, incoming({}), 'signIn', fault)
    for (let i = 0; i < limits.wrongAttemptsMax; i++) expect(await refuse()).toBe(fault)
    expect((await refuse()).code satisfies FaultCode).toBe('too_many')
    expect(recorded).toEqual([{ what: 'signIn', code: 'too_many', by: '192.0.2.1' }])
  })
})

it('an operation that needs a caller is refused without a credential', async () => {
  const caller = await authenticate(bearer)
  expect(requireCaller(caller)).toBe(caller)
  expect(() => requireCaller(null)).toThrow(
    expect.objectContaining({ code: 'unauthenticated', message: expect.stringContaining('needs a credential') }),
  )
})

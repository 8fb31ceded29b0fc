/** Checks the limit on wrong tokens and sign-in codes: wrong ones are refused with 429 after a while, right ones always work, and the memory is bounded. */
import { createHash } from 'node:crypto'
import { Fault, limits, type Output, tokenHintLength } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WrongAttempts } from '../src/wrong-attempts.ts'
import {
  authHeaders,
  bytesInUse,
  handshake,
  openSocket,
  post,
  request,
  secrets,
  startTestServer,
  type TestServer,
} from './test-server.ts'

let gateway: TestServer
beforeEach(async () => {
  gateway = await startTestServer()
})
afterEach(() => gateway.close())

const wrongToken = { authorization: 'Bearer wrong' }
const attempt = async (headers: Record<string, string>, path = '/me') =>
  (await request(gateway, path, { headers })).status
const send = async (path: string, body: object) => {
  const headers = { 'content-type': 'application/json' }
  return (await request(gateway, path, { method: 'POST', headers, body: JSON.stringify(body) })).status
}
const sendCode = (path: string, code: string) => send(path, { code })
const signIn = (code: string) => sendCode('/sign-in', code)

describe('wrong tokens', () => {
  it('A8: wrong tokens from loopback get 429 after the limit, and valid tokens work before and after', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 1000; i++) statuses.push(await attempt({ authorization: `Bearer wrong-${i}` }))
    expect(statuses.indexOf(429)).toBe(limits.wrongAttemptsMax)
    expect(new Set(statuses.slice(limits.wrongAttemptsMax))).toEqual(new Set([429]))
    for (const role of ['person', 'agent', 'runner'] as const) expect(await attempt(authHeaders(role))).toBe(200)
    expect(await handshake(gateway, wrongToken)).toBe(429)
    expect(await handshake(gateway, authHeaders('runner'))).toBe(101)
  })

  it('A9: wrong tokens count with every combination of other fields and credentials', async () => {
    const optional = fc.record(
      {
        cookie: fc.constant('holdpoint_1=x'),
        origin: fc.constant(`http://localhost:${gateway.port}`),
        'x-holdpoint': fc.constantFrom('0', '1'),
        'x-holdpoint-via': fc.constantFrom('cli', 'page', ''),
        'idempotency-key': fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom('a', 'b') }),
        'x-forwarded-for': fc.ipV4(),
        forwarded: fc.constant('for=192.0.2.1'),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(
        optional,
        fc.constantFrom('/me', '/sessions', '/requests?limit=1', '/events'),
        async (more, path) => {
          expect([401, 429]).toContain(await attempt({ ...more, ...wrongToken } as Record<string, string>, path)) // every value is a string
        },
      ),
      { numRuns: limits.wrongAttemptsMax },
    )
    expect(await attempt(wrongToken)).toBe(429)
  })
})

describe('wrong sign-in codes', () => {
  it('A8: wrong sign-in codes get 429 after the limit, and the right code still works', async () => {
    const made = (await (await post(gateway, 'person', '/links', {})).json()) as { code: string }
    const statuses: number[] = []
    for (let i = 0; i < 2 * limits.wrongAttemptsMax; i++) statuses.push(await signIn(`wrong-${i}`))
    expect(statuses.indexOf(429)).toBe(limits.wrongAttemptsMax)
    expect(statuses.at(-1)).toBe(429)
    expect(await signIn(made.code)).toBe(200)
  })
  it('A8: describeLink gets 429 after the limit of wrong codes, which count together with other wrong attempts', async () => {
    const made = (await (await post(gateway, 'person', '/links', {})).json()) as { code: string }
    const statuses: number[] = []
    for (let i = 0; i < limits.wrongAttemptsMax + 10; i++)
      statuses.push(await sendCode('/sign-in/describe', `wrong-${i}`))
    expect(statuses.indexOf(429)).toBe(limits.wrongAttemptsMax)
    expect(await sendCode('/sign-in', 'wrong')).toBe(429)
    expect(await attempt(wrongToken)).toBe(429)
    expect(await sendCode('/sign-in/describe', made.code)).toBe(200)
    expect(await sendCode('/sign-in', made.code)).toBe(200)
  })
  it('A8: describeLink is refused over a WebSocket, because wrong codes are not counted there', async () => {
    const socket = await openSocket(gateway, authHeaders('agent'))
    socket.send({ id: 1, op: 'describeLink', input: { code: 'wrong' } })
    expect(await socket.next(({ frame }) => frame === 'reply')).toMatchObject({
      body: { error: { code: 'unsupported' } },
    })
    socket.ws.close()
  })
  it('L7: the audit log contains a limited number of entries about too many wrong sign-in codes', async () => {
    for (let i = 0; i < limits.wrongAttemptsMax + 20; i++) await signIn(`wrong-${i}`)
    const reply = await request(gateway, '/audit?include=notices', { headers: authHeaders('person') })
    const { items } = (await reply.json()) as Output<'listAudit'> // the reply has the type that the contract declares
    const refused = items.flatMap(entry => (entry.kind === 'notice' ? [entry.event] : []))
    expect(refused.filter(({ type }) => type === 'attempt.refused')).toEqual(
      Array.from({ length: limits.refusedAttemptsMax }, () =>
        expect.objectContaining({ what: 'signIn', code: 'too_many', by: '127.0.0.1' }),
      ),
    )
  })
})

describe('wrong token hints', () => {
  it('A8: wrong token hints get 429 after the limit, and the hint of a valid token still gets a proof', async () => {
    const prove = (hint: string) => send('/proof', { hint, nonce: '0'.repeat(32) })
    const statuses: number[] = []
    for (let i = 0; i < limits.wrongAttemptsMax + 10; i++) statuses.push(await prove(i.toString(16).padStart(16, '0')))
    expect(statuses.indexOf(429)).toBe(limits.wrongAttemptsMax)
    const hash = createHash('sha256').update(secrets.person).digest('hex')
    expect(await prove(hash.slice(0, tokenHintLength))).toBe(200)
  })
})

it('A10: the count of wrong attempts is bounded in total and in memory with a hundred thousand addresses', () => {
  const wrong = new Fault('unauthenticated', 'wrong')
  const attempts = new WrongAttempts(() => 0)
  const before = bytesInUse()
  const refused = Array.from({ length: 100_000 }, (_, i) =>
    attempts.refuse(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, wrong),
  )
  expect(refused.indexOf(refused.find(fault => fault.code === 'too_many') as Fault)).toBe(limits.wrongAttemptsTotalMax)
  refused.length = 0
  expect(bytesInUse() - before).toBeLessThan(10 * 1024 * 1024)
  expect(attempts.refuse('another', wrong).code).toBe('too_many')
})

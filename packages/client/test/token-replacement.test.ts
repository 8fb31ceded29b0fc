/** Tests connections whose token is replaced while they are used: calls, streams and sockets continue with the new token, without an error for their callers. */
import { type ConnectionStatus, httpCall, socketCall, watchEvents } from '@holdpoint/client'
import { type Gateway, openGateway } from '@holdpoint/engine'
import { formatId, type TokenId } from '@holdpoint/protocol'
import { createServer, type Listening } from '@holdpoint/server'
import { openMemory } from '@holdpoint/store'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { approval } from '../../server/test/test-server.ts'

let gateway: Gateway
let server: Listening
/** The content of the token file, which the gateway replaces when the token is rotated. */
let secret: string
const closers: (() => unknown)[] = []
beforeEach(async () => {
  secret = 'first-secret'
  const tokenFiles = {
    write: (_role: string, replacement: string) => {
      secret = replacement
    },
  }
  gateway = await openGateway({ store: await openMemory(), tokenFiles })
  await gateway.ensureToken(secret, 'owner', 'ada', formatId('run', new Uint8Array(20)))
  server = await createServer({ gateway, log: () => {} }).listen({ port: 0 })
})
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  await server.close()
  await gateway.close()
})

const connection = () => ({ url: server.url, token: () => secret })
const owner = () => httpCall(connection())
const currentId = () => gateway.fileCaller('owner').token as TokenId // the token of a caller is a token id
const rotate = () => owner()('rotateToken', { id: currentId() })
async function openRequest() {
  const session = await owner()('startSession', { driver: 'external' })
  return owner()('openRequest', { id: session.id, key: 'k', ask: approval('k') })
}
const answer = async ({ id, digest }: Awaited<ReturnType<typeof openRequest>>) =>
  owner()('answerRequest', { id, digest, answer: { kind: 'allow' } })

it('a call over HTTP uses the new token, even if it was first refused with the old token', async () => {
  const call = httpCall(connection())
  expect(await call('whoAmI', {})).toMatchObject({ person: 'ada', token: currentId() })
  await rotate()
  expect(await call('whoAmI', {})).toMatchObject({ token: currentId() })
  // The file is read before the rotation and again after the refusal.
  const old = secret
  await rotate()
  let reads = 0
  const late = httpCall({ url: server.url, token: () => (reads++ === 0 ? old : secret) })
  expect(await late('whoAmI', {})).toMatchObject({ token: currentId() })
})

it('a long poll over HTTP is repeated with the new token when the old token is revoked', async () => {
  const request = await openRequest()
  const poll = httpCall(connection())('getRequest', { id: request.id, wait: 30_000 })
  await rotate()
  await answer(request)
  expect(await poll).toMatchObject({ status: 'resolved' })
})

it('a refused call fails if the token was not replaced', async () => {
  const { id, secret: token } = await owner()('addToken', { role: 'person', name: 'bob' })
  await owner()('removeToken', { id })
  await expect(httpCall({ url: server.url, token: () => token })('whoAmI', {})).rejects.toMatchObject({
    code: 'unauthenticated',
  })
})

it('an event stream continues with the new token', async () => {
  const abort = new AbortController()
  closers.push(() => abort.abort())
  const statuses: ConnectionStatus[] = []
  const frames = watchEvents(connection(), { signal: abort.signal, onStatus: status => statuses.push(status) })
  await frames.next()
  await rotate()
  const request = await openRequest()
  for await (const frame of frames)
    if (frame.frame === 'event' && frame.event.type === 'request.opened' && frame.event.value.id === request.id) break
  expect(statuses).toContain('reconnecting')
})

it('a socket connects again with the new token, and a call that was waiting gets its reply', async () => {
  const socket = socketCall({ ...connection(), WebSocket: WebSocket as never }) // `ws` has all members that the client uses
  closers.push(() => socket.close())
  await socket.call('whoAmI', {})
  const request = await openRequest()
  const poll = socket.call('getRequest', { id: request.id, wait: 30_000 })
  const frames = socket.watch()[Symbol.asyncIterator]()
  await frames.next()
  await rotate()
  await answer(request)
  expect(await poll).toMatchObject({ status: 'resolved' })
  expect(await socket.call('whoAmI', {})).toMatchObject({ token: currentId() })
  expect((await frames.next()).done).toBe(false)
})

it('a socket whose token was revoked and not replaced refuses its calls', async () => {
  const { id, secret: token } = await owner()('addToken', { role: 'person', name: 'bob' })
  const bob = { url: server.url, token: () => token, trusted: true }
  const socket = socketCall({ ...bob, WebSocket: WebSocket as never }) // `ws` has all members that the client uses
  closers.push(() => socket.close())
  const request = await openRequest()
  const poll = socket.call('getRequest', { id: request.id, wait: 30_000 })
  await socket.call('whoAmI', {})
  await Promise.all([expect(poll).rejects.toMatchObject({ code: 'unauthenticated' }), owner()('removeToken', { id })])
  await expect(socket.call('whoAmI', {})).rejects.toMatchObject({ code: 'unauthenticated' })
})

/** Checks that the server listens on both loopback addresses, so that no other program is "localhost" on its port. */
import { createServer, type Server as NetServer } from 'node:net'
import { openGateway } from '@holdpoint/engine'
import { createServer as createGatewayServer, type Listening } from '@holdpoint/server'
import { openMemory } from '@holdpoint/store'
import { afterEach, expect, it } from 'vitest'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function start(port: number): Promise<Listening> {
  const gateway = await openGateway({ store: await openMemory() })
  closers.push(() => gateway.close())
  const listening = await createGatewayServer({ gateway }).listen({ port })
  closers.push(() => listening.close())
  return listening
}

/** Another program that has taken the port of one address. */
async function takePort(port: number, host: string): Promise<number> {
  const server: NetServer = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  closers.push(() => new Promise(resolve => server.close(resolve)))
  return (server.address() as { port: number }).port // a listening TCP server has a port
}

it('B9: the server replies on 127.0.0.1 and on [::1], and uses localhost in its URL', async () => {
  const { port, url } = await start(0)
  expect(url).toBe(`http://localhost:${port}`)
  for (const host of ['127.0.0.1', '[::1]', 'localhost'])
    expect((await fetch(`http://${host}:${port}/healthz`)).status).toBe(200)
})

it.each(['127.0.0.1', '::1'])(
  'B9: the server does not start if another program has its port on %s, and frees the other address',
  async host => {
    const taken = await takePort(0, host)
    await expect(start(taken)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await expect(takePort(taken, host === '::1' ? '127.0.0.1' : '::1')).resolves.toBe(taken)
  },
)

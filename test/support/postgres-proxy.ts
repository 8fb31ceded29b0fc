/** A proxy in front of a PostgreSQL server that can stop forwarding, for tests of lost connections. */
import { connect as connectSocket, createServer, type Socket } from 'node:net'

export async function openPostgresProxy(url: string) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let mode: 'forward' | 'refuses connections' | 'does not reply' = 'forward'
  let mutesAtCommit = false
  const server = createServer(client => {
    sockets.add(client)
    client.on('error', () => {})
    if (mode === 'does not reply') return
    const upstream = connectSocket(Number(target.port), target.hostname)
    sockets.add(upstream)
    upstream.on('error', () => {})
    for (const socket of [client, upstream])
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    client.on('data', chunk => {
      if (mode !== 'forward') return
      upstream.write(chunk)
      if (mutesAtCommit && chunk.includes('commit\0')) mode = 'does not reply'
    })
    upstream.on('data', chunk => mode === 'forward' && client.write(chunk))
  })
  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const through = new URL(url)
  through.port = String(port)
  const dropAll = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  return {
    url: through.href,
    interrupt: async (how: 'refuses connections' | 'does not reply') => {
      mode = how
      if (how === 'does not reply') return
      const closed = new Promise(resolve => server.close(resolve))
      dropAll()
      await closed
    },
    muteAtCommit: () => {
      mutesAtCommit = true
    },
    restore: async () => {
      const wasClosed = mode === 'refuses connections'
      mode = 'forward'
      mutesAtCommit = false
      dropAll()
      if (wasClosed) await listen(port)
    },
    close: () => {
      dropAll()
      server.close()
    },
  }
}

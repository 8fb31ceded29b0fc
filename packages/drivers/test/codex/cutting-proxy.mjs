/**
 * Runs the real Codex and stands between its app-server and the driver, to cut their connection in the middle of an answer.
 * `node cutting-proxy.mjs CODEX FILE [arguments of codex]`: as soon as the file exists, the first message of the driver that it
 * describes is lost together with the connection. The file contains a method, or `reply` for the reply to a request of Codex.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket, WebSocketServer } from 'ws'

const [codex = '', cutFile = '', ...args] = process.argv.slice(2)
const at = args.indexOf('--listen') + 1
if (at === 0) process.exit(spawnSync(codex, args, { stdio: 'inherit' }).status ?? 1)

const address = (args[at] ?? '').replace('unix://', '')
const realAddress = `${address}.real`
const server = spawn(codex, args.with(at, `unix://${realAddress}`), { stdio: 'inherit' })
server.once('exit', code => process.exit(code ?? 1))
process.on('SIGTERM', () => server.kill('SIGTERM'))

const openUpstream = () =>
  new WebSocket('ws://localhost/', { createConnection: () => connect(realAddress), perMessageDeflate: false })

while (!existsSync(realAddress)) await delay(25)
const listener = createServer()
new WebSocketServer({ server: listener, perMessageDeflate: false, maxPayload: 0 }).on('connection', client => {
  const upstream = openUpstream()
  const opened = new Promise(resolve => upstream.once('open', resolve))
  const close = () => {
    client.terminate()
    upstream.terminate()
  }
  client.on('message', async data => {
    const text = String(data)
    if (isCut(JSON.parse(text))) return close()
    await opened
    upstream.send(text)
  })
  upstream.on('message', data => client.send(String(data)))
  for (const side of [client, upstream]) side.on('close', close).on('error', close)
})
listener.listen(address)

/** @param {{ readonly method?: string, readonly result?: unknown }} message */
function isCut({ method, result }) {
  if (!existsSync(cutFile)) return false
  const wanted = readFileSync(cutFile, 'utf8')
  const isWanted = wanted === 'reply' ? method === undefined && result !== undefined : method === wanted
  if (isWanted) rmSync(cutFile)
  return isWanted
}

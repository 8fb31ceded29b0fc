/** Measures a thousand subscriptions to the events of one agent, compared with a bare server that broadcasts the same bytes in the same bursts. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cwd } from '../kit/asks.mjs'
import { makeAgent, startGateway } from '../kit/gateway.mjs'
import { connectTo, openHttpClient } from '../kit/http-client.mjs'
import { median } from '../kit/numbers.mjs'
import { cpuMsOf } from '../kit/process-stats.mjs'
import { startActor } from '../kit/spawn-actor.mjs'

const perBurst = 5
const pauseMs = 10
const rounds = 3

export async function measure({ folder, quick, profile }) {
  const watcherCount = quick ? 200 : 1000
  const bursts = quick ? 20 : 100
  const gateway = await startGateway({ home: join(folder, 'home'), execArgv: profile('gateway') })
  const server = startActor('bare-http')
  await server.call('broadcast')
  const bareUrl = await server.call('open')
  const gatewayWatchers = await openWatchers(gateway.url, gateway.token, watcherCount)
  const bareWatchers = await openWatchers(bareUrl, 'nobody', watcherCount)
  const http = await openHttpClient(gateway.url)
  const agent = await makeAgent(gateway)
  const { id } = await http.post('/sessions', agent, { driver: 'external', cwd })
  const append = () => http.post(`/sessions/${id}/events`, agent, { items: nextEvents() })
  await waitUntilIdle(gatewayWatchers, gateway.pid)
  await broadcastGateway(gatewayWatchers, append, Math.ceil(bursts / 5), gateway.pid)

  const costs = []
  for (let i = 0; i < rounds; i++) {
    const { cpuMs, sent } = await broadcastGateway(gatewayWatchers, append, bursts, gateway.pid)
    costs.push({ gateway: cpuMs, bare: await broadcastBare(bareWatchers, bareUrl, sent, server.pid) })
  }
  await Promise.all([gatewayWatchers.stop(), bareWatchers.stop(), server.stop()])
  await gateway.stop()
  const each = costs => (median(costs) * 1000) / (bursts * perBurst * watcherCount)
  const measured = each(costs.map(cost => cost.gateway))
  const counterpart = each(costs.map(cost => cost.bare))
  return {
    fanout_cpu_us: { measured, bare: counterpart },
    fanout_cpu_ratio: { measured: measured / counterpart, bare: 1 },
  }
}

async function openWatchers(url, token, count) {
  const watchers = startActor('watchers')
  await watchers.call('open', { url, token, count })
  return watchers
}

/** Waits until the server uses almost no CPU time, which means that every watcher has received `hello`. Then discards what the watchers have received. */
async function waitUntilIdle(watchers, pid) {
  let before = -1
  for (let now = cpuMsOf(pid); now - before > 10; now = cpuMsOf(pid)) {
    before = now
    await sleep(500)
  }
  await watchers.call('reset')
}

let block = 0
function nextEvents() {
  return Array.from({ length: perBurst }, () => ({
    type: 'message.added',
    block: `block-${++block}`,
    text: `The totals of the cart are now rounded once, at the end, and the tests of the checkout say the same (${block}).`,
  }))
}

/** Returns the CPU time of the server until all watchers have received all events, and the bytes of each burst. */
async function broadcastGateway(watchers, append, bursts, pid) {
  const sent = []
  const before = cpuMsOf(pid)
  for (let i = 0; i < bursts; i++) {
    await append()
    sent.push(await watchers.call('all', { events: perBurst }))
    await watchers.call('reset')
    await sleep(pauseMs)
  }
  return { cpuMs: cpuMsOf(pid) - before, sent }
}

async function broadcastBare(watchers, url, sent, pid) {
  const socket = await connectTo(url)
  const { host } = new URL(url)
  socket.resume()
  const before = cpuMsOf(pid)
  for (const bytes of sent) {
    socket.write(`POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${bytes.length}\r\n\r\n`)
    socket.write(bytes)
    await watchers.call('all', { bytes: bytes.length })
    await watchers.call('reset')
    await sleep(pauseMs)
  }
  const cpuMs = cpuMsOf(pid) - before
  socket.destroy()
  return cpuMs
}

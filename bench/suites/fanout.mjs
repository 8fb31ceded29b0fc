/** A thousand watchers of what one agent says, and a bare server that broadcasts the same bytes in the same bursts. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cwd } from '../kit/asks.mjs'
import { makeAgent, startGateway } from '../kit/gateway.mjs'
import { median } from '../kit/numbers.mjs'
import { cpuMsOf } from '../kit/process.mjs'
import { enter } from '../kit/spawn-actor.mjs'
import { dial, openWire } from '../kit/wire.mjs'

const perBurst = 5
const pauseMs = 10
const rounds = 3

export async function measure({ folder, quick, profile }) {
  const watching = quick ? 200 : 1000
  const bursts = quick ? 20 : 100
  const gateway = await startGateway({ home: join(folder, 'home'), execArgv: profile('gateway') })
  const server = enter('bare-http')
  await server.call('broadcast')
  const bareUrl = await server.call('open')
  const ours = await openStage(gateway.url, gateway.token, watching)
  const bare = await openStage(bareUrl, 'nobody', watching)
  const wire = await openWire(gateway.url)
  const agent = await makeAgent(gateway)
  const { id } = await wire.post('/sessions', agent, { driver: 'external', cwd })
  const speak = burst => wire.post(`/sessions/${id}/events`, agent, { items: sayings(burst) })
  await settled(ours, gateway.pid)
  await broadcastOurs(ours, speak, Math.ceil(bursts / 5), gateway.pid)

  const costs = []
  for (let i = 0; i < rounds; i++) {
    const { cpuMs, said } = await broadcastOurs(ours, speak, bursts, gateway.pid)
    costs.push({ ours: cpuMs, bare: await broadcastBare(bare, bareUrl, said, server.pid) })
  }
  await Promise.all([ours.leave(), bare.leave(), server.leave()])
  await gateway.stop()
  const each = costs => (median(costs) * 1000) / (bursts * perBurst * watching)
  const measured = each(costs.map(cost => cost.ours))
  const counterpart = each(costs.map(cost => cost.bare))
  return {
    fanout_cpu_us: { measured, bare: counterpart },
    fanout_cpu_ratio: { measured: measured / counterpart, bare: 1 },
  }
}

async function openStage(url, token, count) {
  const watchers = enter('watchers')
  await watchers.call('open', { url, token, count })
  return watchers
}

/** Every watcher has its hello, and the gateway has come to rest. */
async function settled(watchers, pid) {
  let before = -1
  for (let now = cpuMsOf(pid); now - before > 10; now = cpuMsOf(pid)) {
    before = now
    await sleep(500)
  }
  await watchers.call('reset')
}

let block = 0
function sayings() {
  return Array.from({ length: perBurst }, () => ({
    type: 'message.added',
    block: `block-${++block}`,
    text: `The totals of the cart are now rounded once, at the end, and the tests of the checkout say the same (${block}).`,
  }))
}

/** The processor time of the server for all of it, read when everyone has everything; and what each burst looked like on the wire. */
async function broadcastOurs(watchers, speak, bursts, pid) {
  const said = []
  const before = cpuMsOf(pid)
  for (let i = 0; i < bursts; i++) {
    await speak(i)
    said.push(await watchers.call('all', { events: perBurst }))
    await watchers.call('reset')
    await sleep(pauseMs)
  }
  return { cpuMs: cpuMsOf(pid) - before, said }
}

async function broadcastBare(watchers, url, said, pid) {
  const socket = await dial(url)
  const { host } = new URL(url)
  socket.resume()
  const before = cpuMsOf(pid)
  for (const bytes of said) {
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

/** Whole cycles over HTTP from 64 connections, durable, and a bare server that commits the same rows in groups and answers the same bodies. */
import { join } from 'node:path'
import { makeAgent, startGateway } from '../kit/gateway.mjs'
import { medians } from '../kit/numbers.mjs'
import { cpuMsOf } from '../kit/process.mjs'
import { enter } from '../kit/spawn-actor.mjs'

const clients = 64
const rounds = 3

export async function measure({ folder, quick, profile }) {
  const size = quick ? { warmup: 300, cycles: 1000 } : { warmup: 1500, cycles: 5000 }
  const ours = []
  const bares = []
  // In turns, so that a machine that is busy for a while is busy for both.
  for (let round = 0; round < rounds; round++) {
    const home = join(folder, `home-${round}`)
    const { replies, ...run } = await runGateway(home, size, profile('gateway'))
    ours.push(run)
    bares.push(await runBare(join(home, 'holdpoint.db'), size, replies))
  }
  const [measured, bare] = [medians(ours), medians(bares)]
  process.stderr.write(`[clients ${Math.round(measured.clientCpuUs)} µs a cycle] `)
  return {
    http_cycles_per_s: { measured: measured.perSecond, bare: bare.perSecond },
    http_cpu_us: { measured: measured.cpuUs, bare: bare.cpuUs },
  }
}

async function runGateway(home, size, execArgv) {
  const gateway = await startGateway({ home, execArgv })
  const { replies, ...run } = await visit(
    { url: gateway.url, person: gateway.token, agent: await makeAgent(gateway) },
    gateway.pid,
    size,
  )
  await gateway.stop()
  return { ...run, replies }
}

async function runBare(recording, size, replies) {
  const server = enter('bare-http')
  const url = await server.call('open')
  await server.call('commitFirst', { recording, file: `${recording}-bare`, replies })
  const { replies: _same, ...run } = await visit({ url, person: 'nobody', agent: 'nobody' }, server.pid, size)
  await server.leave()
  return run
}

async function visit(where, pid, { warmup, cycles }) {
  const crowd = enter('crowd')
  await crowd.call('open', { ...where, clients })
  const replies = await crowd.call('sample')
  await crowd.call('run', { cycles: warmup })
  const before = cpuMsOf(pid)
  const run = await crowd.call('run', { cycles })
  const cpuUs = ((cpuMsOf(pid) - before) * 1000) / cycles
  await crowd.leave()
  return { ...run, cpuUs, replies }
}

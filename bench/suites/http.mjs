/** Measures durable requests over HTTP on 64 connections, from the ask to `taken`, compared with a bare server that commits the same rows in groups and sends the same replies. */
import { join } from 'node:path'
import { makeAgent, startGateway } from '../kit/gateway.mjs'
import { medians } from '../kit/numbers.mjs'
import { cpuMsOf } from '../kit/process-stats.mjs'
import { startActor } from '../kit/spawn-actor.mjs'

const clients = 64
const rounds = 3

export async function measure({ folder, quick, profile }) {
  const size = quick ? { warmup: 300, cycles: 1000 } : { warmup: 1500, cycles: 5000 }
  const gatewayRuns = []
  const bareRuns = []
  // Alternate between Holdpoint and the bare program, so that other load on the machine affects both.
  for (let round = 0; round < rounds; round++) {
    const home = join(folder, `home-${round}`)
    const { replies, ...run } = await runGateway(home, size, profile('gateway'))
    gatewayRuns.push(run)
    bareRuns.push(await runBare(join(home, 'holdpoint.db'), size, replies))
  }
  const [measured, bare] = [medians(gatewayRuns), medians(bareRuns)]
  process.stderr.write(`[clients: ${Math.round(measured.clientCpuUs)} µs per cycle] `)
  return {
    http_cycles_per_s: { measured: measured.perSecond, bare: bare.perSecond },
    http_cpu_us: { measured: measured.cpuUs, bare: bare.cpuUs },
  }
}

async function runGateway(home, size, execArgv) {
  const gateway = await startGateway({ home, execArgv })
  const { replies, ...run } = await runClients(
    { url: gateway.url, person: gateway.token, agent: await makeAgent(gateway) },
    gateway.pid,
    size,
  )
  await gateway.stop()
  return { ...run, replies }
}

async function runBare(recording, size, replies) {
  const server = startActor('bare-http')
  const url = await server.call('open')
  await server.call('commitFirst', { recording, file: `${recording}-bare`, replies })
  const { replies: _same, ...run } = await runClients({ url, person: 'nobody', agent: 'nobody' }, server.pid, size)
  await server.stop()
  return run
}

async function runClients(target, pid, { warmup, cycles }) {
  const httpClients = startActor('http-clients')
  await httpClients.call('open', { ...target, clients })
  const replies = await httpClients.call('sample')
  await httpClients.call('run', { cycles: warmup })
  const before = cpuMsOf(pid)
  const run = await httpClients.call('run', { cycles })
  const cpuUs = ((cpuMsOf(pid) - before) * 1000) / cycles
  await httpClients.stop()
  return { ...run, cpuUs, replies }
}

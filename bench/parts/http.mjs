/** Whole cycles over HTTP from 64 connections, durable, and a bare server that commits the same rows in groups and answers the same bytes. */
import { join } from 'node:path'
import { makeAgent, startGateway } from '../kit/gateway.mjs'
import { median } from '../kit/numbers.mjs'
import { cpuMsOf } from '../kit/process.mjs'
import { enter } from '../kit/stage.mjs'

const clients = 64
const rounds = 3

export async function measure({ folder, quick, profile }) {
  const cycles = quick ? 1000 : 5000
  const home = join(folder, 'home')
  const gateway = await startGateway({ home, execArgv: profile('gateway') })
  const crowd = enter('crowd')
  const agent = await makeAgent(gateway)
  await crowd.call('open', { url: gateway.url, clients, person: gateway.token, agent })
  const ours = await rounded(crowd, gateway.pid, cycles)
  const replies = await crowd.call('sample')
  await crowd.leave()
  await gateway.stop()

  const server = enter('bare-http')
  const url = await server.call('open')
  await server.call('commitFirst', { recording: join(home, 'holdpoint.db'), file: join(folder, 'bare.db'), replies })
  const bareCrowd = enter('crowd')
  await bareCrowd.call('open', { url, clients, person: gateway.token, agent })
  const bare = await rounded(bareCrowd, server.pid, cycles)
  await bareCrowd.leave()
  await server.leave()
  process.stderr.write(`[client ${Math.round(ours.clientCpuUs)} µs a cycle] `)
  return {
    http_cycles_per_s: { measured: ours.perSecond, bare: bare.perSecond },
    http_cpu_us: { measured: ours.cpuUs, bare: bare.cpuUs },
  }
}

async function rounded(crowd, pid, cycles) {
  await crowd.call('run', { cycles: Math.round(cycles / 4) })
  const runs = []
  for (let i = 0; i < rounds; i++) {
    const before = cpuMsOf(pid)
    const run = await crowd.call('run', { cycles })
    runs.push({ ...run, cpuUs: ((cpuMsOf(pid) - before) * 1000) / cycles })
  }
  return Object.fromEntries(Object.keys(runs[0]).map(name => [name, median(runs.map(run => run[name]))]))
}

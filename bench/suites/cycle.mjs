/** Measures an in-process gateway on SQLite, compared with a loop that commits the same rows in batches of the same size. */
import { join } from 'node:path'
import { medians } from '../kit/numbers.mjs'
import { startActor } from '../kit/spawn-actor.mjs'

const sessions = 64
const rounds = 3

export async function measure({ folder, quick, profile }) {
  const size = quick ? { warmup: 500, cycles: 1500 } : { warmup: 3000, cycles: 10_000 }
  const gatewayRuns = []
  const bareRuns = []
  // Alternate between Holdpoint and the bare program, so that other load on the machine affects both.
  for (let round = 0; round < rounds; round++) {
    const file = join(folder, `cycle-${round}.db`)
    gatewayRuns.push(await runGateway(file, size, profile('gateway')))
    bareRuns.push(await runBare(file, size, gatewayRuns[round].perCommit))
  }
  const [measured, bare] = [medians(gatewayRuns), medians(bareRuns)]
  return {
    cycle_cpu_us: { measured: measured.cpuUs, bare: bare.cpuUs },
    fsyncs_per_cycle: { measured: measured.flushes, bare: 4 / measured.perCommit },
    cycles_per_s: { measured: measured.perSecond, bare: bare.perSecond },
    cycle_ratio: { measured: measured.perSecond / bare.perSecond, bare: 1 },
  }
}

async function runGateway(file, { warmup, cycles }, execArgv) {
  const gateway = startActor('gateway', { execArgv })
  await gateway.call('open', { file, sessions })
  await gateway.call('run', { cycles: warmup })
  const { flushes, ...run } = await gateway.call('run', { cycles })
  await gateway.call('close')
  await gateway.stop()
  return { ...run, flushes: flushes / cycles, perCommit: Math.round((cycles * 4) / flushes) }
}

async function runBare(recording, { warmup, cycles }, perCommit) {
  const bare = startActor('bare-sqlite')
  await bare.call('open', { recording, file: `${recording}-bare` })
  await bare.call('run', { count: warmup * 4, perCommit })
  const { cpuUs, ms } = await bare.call('run', { count: cycles * 4, perCommit })
  await bare.call('close')
  await bare.stop()
  return { cpuUs: cpuUs / cycles, perSecond: (cycles / ms) * 1000 }
}

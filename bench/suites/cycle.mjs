/** The desk in process on SQLite, and a loop that commits the same rows in batches of the same size. */
import { join } from 'node:path'
import { medians } from '../kit/numbers.mjs'
import { enter } from '../kit/spawn-actor.mjs'

const sessions = 64
const rounds = 3

export async function measure({ folder, quick, profile }) {
  const size = quick ? { warmup: 500, cycles: 1500 } : { warmup: 3000, cycles: 10_000 }
  const ours = []
  const bares = []
  // In turns, so that a machine that is busy for a while is busy for both.
  for (let round = 0; round < rounds; round++) {
    const file = join(folder, `cycle-${round}.db`)
    ours.push(await runDesk(file, size, profile('gateway')))
    bares.push(await runBare(file, size, ours[round].perCommit))
  }
  const [measured, bare] = [medians(ours), medians(bares)]
  return {
    cycle_cpu_us: { measured: measured.cpuUs, bare: bare.cpuUs },
    fsyncs_per_cycle: { measured: measured.flushes, bare: 4 / measured.perCommit },
    cycles_per_s: { measured: measured.perSecond, bare: bare.perSecond },
    cycle_ratio: { measured: measured.perSecond / bare.perSecond, bare: 1 },
  }
}

async function runDesk(file, { warmup, cycles }, execArgv) {
  const desk = enter('gateway', { execArgv })
  await desk.call('open', { file, sessions })
  await desk.call('run', { cycles: warmup })
  const { flushes, ...run } = await desk.call('run', { cycles })
  await desk.call('close')
  await desk.leave()
  return { ...run, flushes: flushes / cycles, perCommit: Math.round((cycles * 4) / flushes) }
}

async function runBare(recording, { warmup, cycles }, perCommit) {
  const bare = enter('bare-sqlite')
  await bare.call('open', { recording, file: `${recording}-bare` })
  await bare.call('run', { count: warmup * 4, perCommit })
  const { cpuUs, ms } = await bare.call('run', { count: cycles * 4, perCommit })
  await bare.call('close')
  await bare.leave()
  return { cpuUs: cpuUs / cycles, perSecond: (cycles / ms) * 1000 }
}

/** The desk in process on SQLite, and a loop that commits the same rows in batches of the same size. */
import { join } from 'node:path'
import { median } from '../kit/numbers.mjs'
import { enter } from '../kit/stage.mjs'

const sessions = 64
const rounds = 3

export async function measure({ folder, quick, profile }) {
  const cycles = quick ? 1500 : 10_000
  const file = join(folder, 'cycle.db')
  const desk = enter('desk', { execArgv: profile('desk') })
  await desk.call('open', { file, sessions })
  await desk.call('run', { cycles: quick ? 500 : 3000 })
  const ours = []
  for (let i = 0; i < rounds; i++) ours.push(await desk.call('run', { cycles }))
  await desk.call('close')
  await desk.leave()

  const flushesPerCycle = median(ours.map(run => run.flushes)) / cycles
  const perCommit = Math.round(4 / flushesPerCycle)
  const bare = enter('bare-sqlite')
  const recorded = await bare.call('open', { recording: file, file: join(folder, 'cycle-bare.db') })
  await bare.call('run', { count: recorded - rounds * cycles * 4, perCommit })
  const bares = []
  for (let i = 0; i < rounds; i++) bares.push(await bare.call('run', { count: cycles * 4, perCommit }))
  await bare.call('close')
  await bare.leave()

  const perSecond = median(ours.map(run => run.perSecond))
  const barePerSecond = (cycles / median(bares.map(run => run.ms))) * 1000
  return {
    cycle_cpu_us: { measured: median(ours.map(run => run.cpuUs)), bare: median(bares.map(run => run.cpuUs / cycles)) },
    fsyncs_per_cycle: { measured: flushesPerCycle, bare: 4 / perCommit },
    cycles_per_s: { measured: perSecond, bare: barePerSecond },
    cycle_ratio: { measured: perSecond / barePerSecond, bare: 1 },
  }
}

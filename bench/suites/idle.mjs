/** Measures the memory of an idle gateway and its runner, compared with two idle node processes. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGateway } from '../kit/gateway.mjs'
import { rssMbOf } from '../kit/process-stats.mjs'
import { startActor } from '../kit/spawn-actor.mjs'

const settleMs = 4000

export async function measure({ folder }) {
  const gateway = await startGateway({ home: join(folder, 'home'), runner: 'process' })
  const idleProcesses = [startActor('idle-process'), startActor('idle-process')]
  await sleep(settleMs)
  const [gatewayMb, runnerMb] = [rssMbOf(gateway.pid), rssMbOf(await gateway.runnerPid())]
  const bare = idleProcesses.reduce((sum, { pid }) => sum + rssMbOf(pid), 0)
  await Promise.all(idleProcesses.map(idleProcess => idleProcess.stop()))
  await gateway.stop()
  process.stderr.write(`[gateway ${gatewayMb.toFixed(0)} MB, runner ${runnerMb.toFixed(0)} MB] `)
  return { rss_idle_mb: { measured: gatewayMb + runnerMb, bare } }
}

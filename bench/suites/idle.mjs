/** What a gateway and its runner hold in memory when nothing happens, beside two node processes that do nothing. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGateway } from '../kit/gateway.mjs'
import { rssMbOf } from '../kit/process.mjs'
import { enter } from '../kit/spawn-actor.mjs'

const restMs = 4000

export async function measure({ folder }) {
  const gateway = await startGateway({ home: join(folder, 'home'), runner: 'process' })
  const idlers = [enter('idler'), enter('idler')]
  await sleep(restMs)
  const [own, theirs] = [rssMbOf(gateway.pid), rssMbOf(await gateway.runnerPid())]
  const bare = idlers.reduce((sum, { pid }) => sum + rssMbOf(pid), 0)
  await Promise.all(idlers.map(idler => idler.leave()))
  await gateway.stop()
  process.stderr.write(`[gateway ${own.toFixed(0)} MB, runner ${theirs.toFixed(0)} MB] `)
  return { rss_idle_mb: { measured: own + theirs, bare } }
}

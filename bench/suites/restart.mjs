/** Measures the start of a gateway with 10,000 pending requests: the memory, and the time until a client has the first page and the number of pending requests. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGateway } from '../kit/gateway.mjs'
import { openFrames } from '../kit/http-client.mjs'
import { median, msSince } from '../kit/numbers.mjs'
import { rssMbOf } from '../kit/process-stats.mjs'
import { startActor } from '../kit/spawn-actor.mjs'

const rounds = 3
const settleMs = 1500

export async function measure({ folder, quick, profile }) {
  const pending = quick ? 2000 : 10_000
  const full = join(folder, 'full')
  mkdirSync(full)
  const seeder = startActor('seeder')
  await seeder.call('pending', { file: join(full, 'holdpoint.db'), sessions: 20, each: pending / 20 })
  await seeder.stop()
  const measured = []
  const bare = []
  for (let i = 0; i < rounds; i++) {
    measured.push(await restart(full, pending, profile('gateway')))
    bare.push(await restart(join(folder, `empty-${i}`), 0))
  }
  const middle = (runs, name) => median(runs.map(run => run[name]))
  return {
    restart_ms: { measured: middle(measured, 'ms'), bare: middle(bare, 'ms') },
    rss_mb: { measured: middle(measured, 'rssMb') - middle(bare, 'rssMb'), bare: middle(bare, 'rssMb') },
  }
}

async function restart(home, pending, execArgv) {
  const start = process.hrtime.bigint()
  const gateway = await startGateway({ home, execArgv })
  const hello = await new Promise((resolve, reject) => {
    openFrames(gateway.url, gateway.token, ({ frame, hello }) => frame === 'hello' && resolve(hello)).catch(reject)
  })
  const ms = msSince(start)
  if (hello.pending !== pending || hello.requests.length !== Math.min(pending, 200))
    throw new Error(`hello has a pending count of ${hello.pending} and contains ${hello.requests.length} requests`)
  await sleep(settleMs)
  const rssMb = rssMbOf(gateway.pid)
  await gateway.stop()
  return { ms, rssMb }
}

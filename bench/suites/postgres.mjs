/** Measures an in-process gateway on PostgreSQL, compared with a loop that commits the same rows in transactions of the same size. */
import { median } from '../kit/numbers.mjs'
import { startPostgres } from '../kit/postgres.mjs'
import { startActor } from '../kit/spawn-actor.mjs'

const sessions = 64
const rounds = 3

export async function measure({ quick, profile }) {
  const cycles = quick ? 500 : 2000
  const server = await startPostgres()
  const [url, bareUrl] = [await server.database('gateway'), await server.database('bare')]
  const gateway = startActor('gateway', { execArgv: profile('gateway') })
  const bare = startActor('bare-postgres')
  await gateway.call('open', { url, sessions })
  await gateway.call('run', { cycles })
  const before = await bare.call('commits', { url })
  const perSecond = []
  for (let i = 0; i < rounds; i++) perSecond.push((await gateway.call('run', { cycles })).perSecond)
  const perCommit = Math.round((rounds * cycles * 4) / ((await bare.call('commits', { url })) - before))
  await gateway.call('close')
  await gateway.stop()

  const recorded = await bare.call('open', { recording: url, url: bareUrl })
  await bare.call('run', { count: recorded - rounds * cycles * 4, perCommit })
  const bareMs = []
  for (let i = 0; i < rounds; i++) bareMs.push(await bare.call('run', { count: cycles * 4, perCommit }))
  await bare.call('close')
  await bare.stop()
  await server.stop()
  process.stderr.write(`[${perCommit} changes per commit] `)
  return { pg_cycles_per_s: { measured: median(perSecond), bare: (cycles / median(bareMs)) * 1000 } }
}

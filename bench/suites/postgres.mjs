/** The desk in process on PostgreSQL, and a loop that commits the same rows there in transactions of the same size. */
import { median } from '../kit/numbers.mjs'
import { startPostgres } from '../kit/postgres.mjs'
import { enter } from '../kit/spawn-actor.mjs'

const sessions = 64
const rounds = 3

export async function measure({ quick, profile }) {
  const cycles = quick ? 500 : 2000
  const server = await startPostgres()
  const [url, bareUrl] = [await server.database('ours'), await server.database('bare')]
  const desk = enter('gateway', { execArgv: profile('gateway') })
  const bare = enter('bare-postgres')
  await desk.call('open', { url, sessions })
  await desk.call('run', { cycles })
  const before = await bare.call('commits', { url })
  const ours = []
  for (let i = 0; i < rounds; i++) ours.push((await desk.call('run', { cycles })).perSecond)
  const perCommit = Math.round((rounds * cycles * 4) / ((await bare.call('commits', { url })) - before))
  await desk.call('close')
  await desk.leave()

  const recorded = await bare.call('open', { recording: url, url: bareUrl })
  await bare.call('run', { count: recorded - rounds * cycles * 4, perCommit })
  const bares = []
  for (let i = 0; i < rounds; i++) bares.push(await bare.call('run', { count: cycles * 4, perCommit }))
  await bare.call('close')
  await bare.leave()
  await server.stop()
  process.stderr.write(`[${perCommit} changes a commit] `)
  return { pg_cycles_per_s: { measured: median(ours), bare: (cycles / median(bares)) * 1000 } }
}

/** One ask at a time, from the agent through a person who sees it on a stream and back, against what its commits and one POST cost bare. */
import { join } from 'node:path'
import { makeAgent, startGateway } from '../kit/gateway.mjs'
import { median } from '../kit/numbers.mjs'
import { enter } from '../kit/stage.mjs'

export async function measure({ folder, quick, profile }) {
  const trips = quick ? 100 : 600
  const home = join(folder, 'home')
  const gateway = await startGateway({ home, execArgv: profile('gateway') })
  const asker = enter('asker')
  const person = enter('person')
  await person.call("watch", { url: gateway.url, token: gateway.token })
  await asker.call('open', { url: gateway.url, agent: await makeAgent(gateway) })
  await asker.call('trips', { url: gateway.url, count: trips / 2 })
  const ours = median(await asker.call('trips', { url: gateway.url, count: trips }))
  await person.leave()
  await gateway.stop()

  const disk = enter('bare-sqlite')
  const recorded = await disk.call('open', { recording: join(home, 'holdpoint.db'), file: join(folder, 'bare.db') })
  // Opened, resolved and handed lie within the measured time; taken does not.
  const commits = median(await disk.call('time', { groups: recorded / 4, group: 3, leftOut: 1 }))
  await disk.leave()
  const server = enter('bare-http')
  const post = median(await asker.call('posts', { url: await server.call('open'), count: trips }))
  await server.leave()
  await asker.leave()
  process.stderr.write(`[three commits ${commits.toFixed(2)} ms, a POST ${post.toFixed(2)} ms] `)
  const bare = commits + post
  return {
    http_roundtrip_p50_ms: { measured: ours, bare },
    roundtrip_ratio: { measured: ours / bare, bare: 1 },
  }
}

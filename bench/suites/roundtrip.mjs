/** One ask at a time, from the agent through a person who sees it on a stream and back, against what its commits and one POST cost bare. */
import { join } from 'node:path'
import { makeAgent, startGateway } from '../kit/gateway.mjs'
import { median } from '../kit/numbers.mjs'
import { enter } from '../kit/spawn-actor.mjs'

const turns = 12

export async function measure({ folder, quick, profile }) {
  const perTurn = quick ? 10 : 50
  const asker = enter('asker')
  // The first gateway warms up the clients and leaves the rows that the bare commits repeat.
  const first = await openTrips(asker, join(folder, 'first'))
  await asker.call('trips', { url: first.url, count: turns * perTurn })
  await first.close()

  const gateway = await openTrips(asker, join(folder, 'home'), profile('gateway'))
  const disk = enter('bare-sqlite')
  const server = enter('bare-http')
  const serverUrl = await server.call('open')
  await disk.call('open', { recording: join(folder, 'first', 'holdpoint.db'), file: join(folder, 'bare.db') })
  await asker.call('trips', { url: gateway.url, count: turns * perTurn })
  const times = { trips: [], commits: [], posts: [] }
  for (let turn = 0; turn < turns; turn++) {
    times.trips.push(...(await asker.call('trips', { url: gateway.url, count: perTurn })))
    // Opened, resolved and handed lie within a trip's time; taken does not.
    times.commits.push(...(await disk.call('time', { groups: perTurn, group: 3, leftOut: 1 })))
    times.posts.push(...(await asker.call('posts', { url: serverUrl, count: perTurn })))
  }
  await gateway.close()
  await Promise.all([asker.leave(), disk.leave(), server.leave()])

  const [trip, commits, post] = [median(times.trips), median(times.commits), median(times.posts)]
  process.stderr.write(`[three commits ${commits.toFixed(2)} ms, a POST ${post.toFixed(2)} ms] `)
  return {
    http_roundtrip_p50_ms: { measured: trip, bare: commits + post },
    roundtrip_ratio: { measured: trip / (commits + post), bare: 1 },
  }
}

/** A gateway with a person who watches it, and the asker at its door. */
export async function openTrips(asker, home, execArgv, session) {
  const gateway = await startGateway({ home, execArgv })
  const person = enter('person')
  await person.call('watch', { url: gateway.url, token: gateway.token })
  // A session that was there before was opened by its person, who then speaks for the agent.
  const agent = session ? gateway.token : await makeAgent(gateway)
  await asker.call('open', { url: gateway.url, agent, session })
  return {
    url: gateway.url,
    async close() {
      await person.leave()
      await gateway.stop()
    },
  }
}

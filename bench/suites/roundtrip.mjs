/** Measures the round trip of one request at a time, from the agent to a person on the event stream and back, compared with bare commits plus one bare POST. */
import { join } from 'node:path'
import { makeAgent, startGateway } from '../kit/gateway.mjs'
import { median } from '../kit/numbers.mjs'
import { startActor } from '../kit/spawn-actor.mjs'

const turns = 12

export async function measure({ folder, quick, profile }) {
  const perTurn = quick ? 10 : 50
  const agentProcess = startActor('asking-agent')
  // The first gateway is only a warm-up. It also writes the rows that the bare commits repeat.
  const first = await openRoundTrips(agentProcess, join(folder, 'first'))
  await agentProcess.call('roundTrips', { url: first.url, count: turns * perTurn })
  await first.close()

  const gateway = await openRoundTrips(agentProcess, join(folder, 'home'), profile('gateway'))
  const disk = startActor('bare-sqlite')
  const server = startActor('bare-http')
  const serverUrl = await server.call('open')
  await disk.call('open', { recording: join(folder, 'first', 'holdpoint.db'), file: join(folder, 'bare.db') })
  await agentProcess.call('roundTrips', { url: gateway.url, count: turns * perTurn })
  const times = { roundTrips: [], commits: [], posts: [] }
  for (let turn = 0; turn < turns; turn++) {
    times.roundTrips.push(...(await agentProcess.call('roundTrips', { url: gateway.url, count: perTurn })))
    // A round trip includes the commits of `opened`, `resolved` and `handed`, but not the commit of `taken`.
    times.commits.push(...(await disk.call('time', { groups: perTurn, group: 3, leftOut: 1 })))
    times.posts.push(...(await agentProcess.call('posts', { url: serverUrl, count: perTurn })))
  }
  await gateway.close()
  await Promise.all([agentProcess.stop(), disk.stop(), server.stop()])

  const [roundTrip, commits, post] = [median(times.roundTrips), median(times.commits), median(times.posts)]
  process.stderr.write(`[three commits: ${commits.toFixed(2)} ms, one POST: ${post.toFixed(2)} ms] `)
  return {
    http_roundtrip_p50_ms: { measured: roundTrip, bare: commits + post },
    roundtrip_ratio: { measured: roundTrip / (commits + post), bare: 1 },
  }
}

/** Starts a gateway with a person who answers, and connects the agent to it. `seeded` is a session of the database with the token of its agent. */
export async function openRoundTrips(agentProcess, home, execArgv, seeded) {
  const gateway = await startGateway({ home, execArgv })
  const person = startActor('person')
  await person.call('watch', { url: gateway.url, token: gateway.token })
  const agent = seeded?.token ?? (await makeAgent(gateway))
  await agentProcess.call('open', { url: gateway.url, agent, session: seeded?.session })
  return {
    url: gateway.url,
    async close() {
      await person.stop()
      await gateway.stop()
    },
  }
}

/** Measures requests in sessions that already have thousands of requests, compared with a session that has none. */
import { join } from 'node:path'
import { median } from '../kit/numbers.mjs'
import { startActor } from '../kit/spawn-actor.mjs'

const turns = 20
/** The most pending requests that one session can have, less the one that is being measured. */
const pendingInOne = 999

export async function measure({ folder, quick, profile }) {
  const perTurn = quick ? 20 : 50
  const gateway = startActor('crowded-gateway', { execArgv: profile('gateway') })
  await gateway.call('open', { file: join(folder, 'crowded.db') })
  const none = await gateway.call('startSession', { pending: 0, undelivered: 0 })
  const undelivered = await gateway.call('startSession', { pending: 0, undelivered: 5000 })
  const others = []
  for (let i = 0; i < 4; i++) others.push(await gateway.call('startSession', { pending: 1000, undelivered: 0 }))
  const pending = await gateway.call('startSession', { pending: pendingInOne, undelivered: 0 })
  const sessions = { none, undelivered, pending }
  const times = { none: [], undelivered: [], pending: [] }
  for (let turn = 0; turn <= turns; turn++)
    for (const [name, id] of Object.entries(sessions)) {
      const cpuUs = await gateway.call('openAndAnswer', { id, count: perTurn })
      // The first round is the warm-up.
      if (turn > 0) times[name].push(cpuUs)
    }
  await gateway.call('close')
  await gateway.stop()
  const bare = median(times.none)
  return {
    undelivered_ratio: { measured: median(times.undelivered) / bare, bare: 1 },
    pending_ratio: { measured: median(times.pending) / bare, bare: 1 },
  }
}

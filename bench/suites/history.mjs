/** Measures the round trip with a million resolved requests in the database, compared with an empty database. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../kit/numbers.mjs'
import { startActor } from '../kit/spawn-actor.mjs'
import { openRoundTrips } from './roundtrip.mjs'

const turns = 12

export async function measure({ folder, quick, profile }) {
  const requests = quick ? 20_000 : 1_000_000
  const perTurn = quick ? 20 : 50
  const old = join(folder, 'old')
  mkdirSync(old)
  const startedAt = Date.now()
  const seeder = startActor('seeder')
  // Create a thousand requests per session, so that the measured session has a history too.
  const seeded = await seeder.call('history', { file: join(old, 'holdpoint.db'), requests, sessions: requests / 1000 })
  await seeder.stop()
  process.stderr.write(`[seeded in ${((Date.now() - startedAt) / 1000).toFixed(0)} s] `)

  const agent = startActor('asking-agent')
  const sides = [
    await openRoundTrips(agent, old, profile('old'), seeded),
    await openRoundTrips(agent, join(folder, 'new'), profile('new')),
  ]
  const times = [[], []]
  for (let turn = 0; turn <= turns; turn++)
    for (const [i, { url }] of sides.entries()) {
      const trips = await agent.call('roundTrips', { url, count: perTurn })
      // The first round is the warm-up.
      if (turn > 0) times[i].push(...trips)
    }
  await Promise.all(sides.map(side => side.close()))
  await agent.stop()
  const [withHistory, without] = times.map(median)
  return {
    history_roundtrip_p50_ms: { measured: withHistory, bare: without },
    history_ratio: { measured: withHistory / without, bare: 1 },
  }
}

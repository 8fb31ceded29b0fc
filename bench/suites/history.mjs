/** The same round trip with a million resolved requests in the file and with none, taken in turns. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../kit/numbers.mjs'
import { enter } from '../kit/spawn-actor.mjs'
import { openTrips } from './roundtrip.mjs'

const turns = 12

export async function measure({ folder, quick, profile }) {
  const requests = quick ? 20_000 : 1_000_000
  const perTurn = quick ? 20 : 50
  const old = join(folder, 'old')
  mkdirSync(old)
  const startedAt = Date.now()
  const seeder = enter('seeder')
  // A thousand requests each: the session that asks has a past of its own.
  const session = await seeder.call('history', { file: join(old, 'holdpoint.db'), requests, sessions: requests / 1000 })
  await seeder.leave()
  process.stderr.write(`[made in ${((Date.now() - startedAt) / 1000).toFixed(0)} s] `)

  const asker = enter('asker')
  const sides = [
    await openTrips(asker, old, profile('old'), session),
    await openTrips(asker, join(folder, 'new'), profile('new')),
  ]
  const times = [[], []]
  for (let turn = 0; turn <= turns; turn++)
    for (const [i, { url }] of sides.entries()) {
      const trips = await asker.call('trips', { url, count: perTurn })
      // The first turn warms up.
      if (turn > 0) times[i].push(...trips)
    }
  await Promise.all(sides.map(side => side.close()))
  await asker.leave()
  const [withHistory, without] = times.map(median)
  return {
    history_roundtrip_p50_ms: { measured: withHistory, bare: without },
    history_ratio: { measured: withHistory / without, bare: 1 },
  }
}

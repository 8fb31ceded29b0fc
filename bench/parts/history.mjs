/** The same round trip with a million resolved requests in the file and with none, taken in turns. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeAgent, startGateway } from '../kit/gateway.mjs'
import { median } from '../kit/numbers.mjs'
import { enter } from '../kit/stage.mjs'

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
  const person = enter('person')
  const sides = [
    await openSide(asker, person, { home: old, session, execArgv: profile('old') }),
    await openSide(asker, person, { home: join(folder, 'new'), execArgv: profile('new') }),
  ]
  for (let turn = 0; turn <= turns; turn++)
    for (const side of sides) {
      const times = await asker.call('trips', { url: side.gateway.url, count: perTurn })
      // The first turn warms up.
      if (turn > 0) side.times.push(...times)
    }
  await Promise.all([asker.leave(), person.leave()])
  await Promise.all(sides.map(side => side.gateway.stop()))
  const [withHistory, without] = sides.map(side => median(side.times))
  process.stderr.write(`[${withHistory.toFixed(2)} ms and ${without.toFixed(2)} ms] `)
  return { history_ratio: { measured: withHistory / without, bare: 1 } }
}

async function openSide(asker, person, { home, session, execArgv }) {
  const gateway = await startGateway({ home, execArgv })
  await person.call('watch', { url: gateway.url, token: gateway.token })
  await asker.call('open', { url: gateway.url, agent: await makeAgent(gateway), session })
  return { gateway, times: [] }
}

/** A runner in this process that measures the time from the CLI's permission call until the answer is ready. Holdpoint alone causes this delay. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { socketCall } from '../../packages/client/dist/index.js'
import { claudeDriver, runRunner } from '../../packages/drivers/dist/index.js'
import { formatId } from '../../packages/protocol/dist/index.js'
import { msSince } from './numbers.mjs'

export const timedDriver = 'claude-timed'

export function startTimedRunner({ url, home, folder }) {
  const durations = []
  const stop = new AbortController()
  const token = readFileSync(join(home, 'runner-token'), 'utf8').trim()
  const connection = socketCall({ url, token, WebSocket })
  const driver = claudeDriver({ folder })
  const timed = {
    info: async () => ({ ...(await driver.info()), name: timedDriver }),
    run: session => driver.run(withMethods(session, { open: timedOpen(session, durations) })),
  }
  const id = formatId('run', randomBytes(20))
  const done = runRunner({
    call: connection.call,
    id,
    name: 'bench',
    drivers: [timed],
    signal: stop.signal,
    log: () => {},
  })
  return {
    durations,
    async stop() {
      stop.abort()
      await done
      connection.close()
    },
  }
}

function timedOpen(session, durations) {
  return async asks => {
    const start = process.hrtime.bigint()
    const opened = await session.open(asks)
    return opened.map(request =>
      withMethods(request, {
        hand: async () => {
          const answer = await request.hand()
          durations.push(msSince(start))
          return answer
        },
      }),
    )
  }
}

/** Returns the object with some methods replaced. The other methods keep the original `this`, which private members need. */
function withMethods(target, replaced) {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(replaced, name)) return replaced[name]
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

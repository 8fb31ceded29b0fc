/** A runner in this process that measures the time from an agent's permission call until the answer is ready. Only Holdpoint causes this delay. */
import { WebSocket } from 'ws'
import { socketCall } from '../../packages/client/dist/index.js'
import { runRunner } from '../../packages/drivers/dist/index.js'
import { openHttpClient } from './http-client.mjs'
import { msSince } from './numbers.mjs'

/** Runs the driver under another name, so that no other runner takes its sessions. The runner has a token of its own, because a token is for one runner. */
export async function startTimedRunner({ url, token: ownerToken, name, driver }) {
  const durations = []
  const stop = new AbortController()
  const http = await openHttpClient(url)
  const { secret: token } = await http.post('/tokens', ownerToken, { role: 'runner', name })
  const { id } = await http.get('/me', token)
  http.close()
  const connection = socketCall({ url, token, WebSocket })
  const timed = {
    info: async () => ({ ...(await driver.info()), name }),
    run: session => driver.run(withMethods(session, { open: timedOpen(session, durations) })),
  }
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

/** A runner in this process whose Claude Code is timed: from the CLI's call to the moment its answer may be given, all of it the gateway's. */
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
  const gaps = []
  const stop = new AbortController()
  const token = readFileSync(join(home, 'runner-token'), 'utf8').trim()
  const line = socketCall({ url, token, WebSocket, via: 'runner' })
  const driver = claudeDriver({ folder })
  const timed = {
    info: async () => ({ ...(await driver.info()), name: timedDriver }),
    run: session => driver.run(through(session, { open: timedOpen(session, gaps) })),
  }
  const id = formatId('run', randomBytes(20))
  const done = runRunner({ call: line.call, id, name: 'bench', drivers: [timed], signal: stop.signal, log: () => {} })
  return {
    gaps,
    async stop() {
      stop.abort()
      await done
      line.close()
    },
  }
}

function timedOpen(session, gaps) {
  return async asks => {
    const start = process.hrtime.bigint()
    const opened = await session.open(asks)
    return opened.map(asked =>
      through(asked, {
        hand: async () => {
          const settled = await asked.hand()
          gaps.push(msSince(start))
          return settled
        },
      }),
    )
  }
}

/** The object with some of its methods replaced; the others keep their own `this`, which private members need. */
function through(target, replaced) {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(replaced, name)) return replaced[name]
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Runs a gateway in this process. The sessions of one runner open requests, get answers and report deliveries in a loop. */
import { randomBytes } from 'node:crypto'
import { openGateway } from '../../packages/engine/dist/index.js'
import { formatId } from '../../packages/protocol/dist/index.js'
import { openPostgres, openSqlite } from '../../packages/store/dist/index.js'
import { answer, askNumbered, cwd } from '../kit/asks.mjs'
import { msSince } from '../kit/numbers.mjs'

const person = { role: 'owner', id: 'per_owner', name: 'owner', token: 'tok_person', via: 'api' }
const id = formatId('run', randomBytes(20))
const runner = { role: 'runner', id, name: 'bench', token: 'tok_runner', via: 'api' }
const renewMs = 4000
let gateway
let store
let sessionLoops
let renewTimer
let asked = 0

export async function open({ file, url, sessions }) {
  store = file ? await openSqlite({ file }) : await openPostgres({ url })
  gateway = await openGateway({ store })
  const driver = { name: 'bench', title: 'Bench', capabilities: ['resumable'], modes: [], ready: true }
  const { incarnation } = (await gateway.dispatch(runner, 'announceRunner', { id, name: 'bench', drivers: [driver] }))
    .body
  renewTimer = setInterval(() => void gateway.dispatch(runner, 'renewRunner', { id, incarnation }), renewMs)
  sessionLoops = await Promise.all(
    Array.from({ length: sessions }, async () => {
      const { id: session } = (await gateway.dispatch(person, 'startSession', { driver: 'bench', cwd })).body
      const { fence } = (await gateway.dispatch(runner, 'attachSession', { id: session, runner: id, incarnation })).body
      return { session, fence }
    }),
  )
}

async function cycle({ session, fence }, n) {
  const { id, digest } = (
    await gateway.dispatch(runner, 'openRequest', { id: session, key: `ask-${n}`, ask: askNumbered(n), fence })
  ).body
  await gateway.dispatch(person, 'answerRequest', { id, digest, answer })
  await gateway.dispatch(runner, 'reportDelivery', { id, state: 'handed', fence })
  await gateway.dispatch(runner, 'reportDelivery', { id, state: 'taken', fence })
}

/** Runs the sessions in parallel until `cycles` requests have been opened, answered and reported as taken. */
export async function run({ cycles }) {
  const flushesBefore = store.flushes ?? 0
  const cpuBefore = process.cpuUsage()
  const start = process.hrtime.bigint()
  let left = cycles
  await Promise.all(
    sessionLoops.map(async loop => {
      while (left-- > 0) await cycle(loop, ++asked)
    }),
  )
  const ms = msSince(start)
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    cpuUs: (user + system) / cycles,
    perSecond: (cycles / ms) * 1000,
    flushes: (store.flushes ?? 0) - flushesBefore,
  }
}

export async function close() {
  clearInterval(renewTimer)
  await gateway.close()
  await store.close()
}

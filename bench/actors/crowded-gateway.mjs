/** Runs, in this process, a gateway whose sessions have many requests, and measures opening and answering one more request in each of them. External sessions are the most expensive ones, because opening a request also starts a turn. */
import { openGateway } from '../../packages/engine/dist/index.js'
import { openSqlite } from '../../packages/store/dist/index.js'
import { answer, askNumbered, cwd } from '../kit/asks.mjs'

const person = { role: 'owner', id: 'per_owner', name: 'owner', token: 'tok_person', via: 'api' }
let gateway
let store
let asked = 0
const call = async (op, input) => (await gateway.dispatch(person, op, input)).body

export async function open({ file }) {
  store = await openSqlite({ file })
  gateway = await openGateway({ store })
}

/** Starts a session with this many pending requests, and with this many answers that were never delivered. */
export async function startSession({ pending, undelivered }) {
  const { id } = await call('startSession', { driver: 'external', cwd })
  const open = () => call('openRequest', { id, key: `ask-${++asked}`, ask: askNumbered(asked) })
  for (let left = undelivered; left > 0; left -= 500) {
    const requests = await Promise.all(Array.from({ length: Math.min(left, 500) }, open))
    await Promise.all(
      requests.map(request => call('answerRequest', { id: request.id, digest: request.digest, answer })),
    )
  }
  await Promise.all(Array.from({ length: pending }, open))
  return id
}

/** Returns the CPU time of opening and answering one request, as an average over `count` requests. */
export async function openAndAnswer({ id, count }) {
  const before = process.cpuUsage()
  for (let i = 0; i < count; i++) {
    const request = await call('openRequest', { id, key: `ask-${++asked}`, ask: askNumbered(asked) })
    await call('answerRequest', { id: request.id, digest: request.digest, answer })
    await call('reportDelivery', { id: request.id, state: 'handed' })
    await call('reportDelivery', { id: request.id, state: 'taken' })
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

export async function close() {
  await gateway.close()
  await store.close()
}

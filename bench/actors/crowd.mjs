/** Agents and the people who answer them, on so many connections at once: every connection goes through whole cycles. */
import { answer, askNumbered, cwd } from '../kit/asks.mjs'
import { msSince } from '../kit/numbers.mjs'
import { openWire } from '../kit/wire.mjs'

let lanes
let person
let agent
let asked = 0

export async function open({ url, clients, ...tokens }) {
  person = tokens.person
  agent = tokens.agent
  lanes = await Promise.all(
    Array.from({ length: clients }, async () => {
      const wire = await openWire(url)
      const { id } = await wire.post('/sessions', agent, { driver: 'external', cwd })
      return { wire, session: id }
    }),
  )
}

/** Returns the replies as well: a bare server has to answer the same bodies. */
async function cycle({ wire, session }) {
  const n = ++asked
  const opened = await wire.call('POST', `/sessions/${session}/requests`, agent, {
    key: `ask-${n}`,
    ask: askNumbered(n),
  })
  const { id, digest } = JSON.parse(opened)
  const resolved = await wire.call('POST', `/requests/${id}/answer`, person, { digest, answer })
  const handed = await wire.call('POST', `/requests/${id}/delivery`, agent, { state: 'handed' })
  const taken = await wire.call('POST', `/requests/${id}/delivery`, agent, { state: 'taken' })
  return { opened, resolved, handed, taken }
}

export const sample = () => cycle(lanes[0])

export async function run({ cycles }) {
  const cpuBefore = process.cpuUsage()
  const start = process.hrtime.bigint()
  let left = cycles
  await Promise.all(
    lanes.map(async lane => {
      while (left-- > 0) await cycle(lane)
    }),
  )
  const ms = msSince(start)
  const { user, system } = process.cpuUsage(cpuBefore)
  return { perSecond: (cycles / ms) * 1000, clientCpuUs: (user + system) / cycles }
}

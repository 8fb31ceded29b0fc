/** Runs HTTP clients that act as agents and as the people who answer. Each connection opens a request, answers it and reports its delivery, again and again. */
import { answer, askNumbered, cwd } from '../kit/asks.mjs'
import { openHttpClient } from '../kit/http-client.mjs'
import { msSince } from '../kit/numbers.mjs'

let connections
let person
let agent
let asked = 0

export async function open({ url, clients, ...tokens }) {
  person = tokens.person
  agent = tokens.agent
  connections = await Promise.all(
    Array.from({ length: clients }, async () => {
      const http = await openHttpClient(url)
      const { id } = await http.post('/sessions', agent, { driver: 'external', cwd })
      return { http, session: id }
    }),
  )
}

/** Opens one request, answers it, and reports the answer as handed and taken. Returns the four replies, so that the bare server can send the same bodies. */
async function cycle({ http, session }) {
  const n = ++asked
  const opened = await http.call('POST', `/sessions/${session}/requests`, agent, {
    key: `ask-${n}`,
    ask: askNumbered(n),
  })
  const { id, digest } = JSON.parse(opened)
  const resolved = await http.call('POST', `/requests/${id}/answer`, person, { digest, answer })
  const handed = await http.call('POST', `/requests/${id}/delivery`, agent, { state: 'handed' })
  const taken = await http.call('POST', `/requests/${id}/delivery`, agent, { state: 'taken' })
  return { opened, resolved, handed, taken }
}

export const sample = () => cycle(connections[0])

export async function run({ cycles }) {
  const cpuBefore = process.cpuUsage()
  const start = process.hrtime.bigint()
  let left = cycles
  await Promise.all(
    connections.map(async connection => {
      while (left-- > 0) await cycle(connection)
    }),
  )
  const ms = msSince(start)
  const { user, system } = process.cpuUsage(cpuBefore)
  return { perSecond: (cycles / ms) * 1000, clientCpuUs: (user + system) / cycles }
}

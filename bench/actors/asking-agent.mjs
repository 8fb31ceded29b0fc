/** Acts as an external agent that opens one request at a time, waits for the answer and reports the delivery. */
import { askNumbered, cwd } from '../kit/asks.mjs'
import { openHttpClient } from '../kit/http-client.mjs'
import { msSince } from '../kit/numbers.mjs'

const connections = new Map()
let asked = 0

/** Uses the given session, or starts a new session. */
export async function open({ url, agent, session }) {
  const http = await openHttpClient(url)
  connections.set(url, {
    http,
    agent,
    session: session ?? (await http.post('/sessions', agent, { driver: 'external', cwd })).id,
  })
}

/** Measures the time from sending the ask until the gateway acknowledges `handed`. */
async function roundTrip({ http, agent, session }) {
  const n = ++asked
  const body = { key: `trip-${n}`, ask: askNumbered(n) }
  const start = process.hrtime.bigint()
  const { id } = await http.post(`/sessions/${session}/requests`, agent, body)
  let request
  do request = await http.get(`/requests/${id}?wait=30000`, agent)
  while (request.status !== 'resolved')
  await http.post(`/requests/${id}/delivery`, agent, { state: 'handed' })
  const ms = msSince(start)
  await http.post(`/requests/${id}/delivery`, agent, { state: 'taken' })
  return ms
}

export async function roundTrips({ url, count }) {
  const times = []
  for (let i = 0; i < count; i++) times.push(await roundTrip(connections.get(url)))
  return times
}

/** Measures POST requests of the same size to a server that replies at once. */
export async function posts({ url, count }) {
  const http = await openHttpClient(url)
  const times = []
  for (let i = 0; i < count; i++) {
    const start = process.hrtime.bigint()
    await http.post('/echo', 'nobody', askNumbered(i))
    times.push(msSince(start))
  }
  http.close()
  return times
}

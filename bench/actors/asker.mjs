/** An agent that lives elsewhere and asks one thing at a time: it waits for the answer and says that it has it. */
import { askNumbered, cwd } from '../kit/asks.mjs'
import { msSince } from '../kit/numbers.mjs'
import { openWire } from '../kit/wire.mjs'

const lines = new Map()
let asked = 0

/** A session may be named; otherwise one is opened. */
export async function open({ url, agent, session }) {
  const wire = await openWire(url)
  lines.set(url, {
    wire,
    agent,
    session: session ?? (await wire.post('/sessions', agent, { driver: 'external', cwd })).id,
  })
}

/** From before the ask until `handed` is acknowledged. */
async function trip({ wire, agent, session }) {
  const n = ++asked
  const body = { key: `trip-${n}`, ask: askNumbered(n) }
  const start = process.hrtime.bigint()
  const { id } = await wire.post(`/sessions/${session}/requests`, agent, body)
  let request
  do request = await wire.get(`/requests/${id}?wait=30000`, agent)
  while (request.status !== 'resolved')
  await wire.post(`/requests/${id}/delivery`, agent, { state: 'handed' })
  const ms = msSince(start)
  await wire.post(`/requests/${id}/delivery`, agent, { state: 'taken' })
  return ms
}

export async function trips({ url, count }) {
  const times = []
  for (let i = 0; i < count; i++) times.push(await trip(lines.get(url)))
  return times
}

/** A POST of the same size, answered at once. */
export async function posts({ url, count }) {
  const wire = await openWire(url)
  const times = []
  for (let i = 0; i < count; i++) {
    const start = process.hrtime.bigint()
    await wire.post('/echo', 'nobody', askNumbered(i))
    times.push(msSince(start))
  }
  wire.close()
  return times
}

/** What a measured run has written, as the list of changes that a bare program has to write to have done the same: rows and events as finished text. */

/** Each change: the step it takes, the row of its request as that step leaves it, its event, and the row of its idempotency key if it had one. */
export function changesOf({ events, requests, idems }) {
  const requestOf = new Map(requests.map(row => [row.id, row]))
  const idemOf = new Map(idems.map(row => [Number(row.ord), row]))
  const changes = []
  for (const event of events) {
    const [noun, step] = event.type.split('.')
    if (noun !== 'request') continue
    const body = JSON.parse(event.text)
    const request = requestOf.get(body.value?.id ?? body.request)
    // Rows are ordered by the place behind the change's own event.
    changes.push({
      step,
      request: { ...request, body: bodies[step](JSON.parse(request.body)) },
      event,
      idem: idemOf.get(Number(event.seq) + 1),
    })
  }
  return changes
}

const at = (body, state) => ({ state, at: body.delivery.at })
/** The row keeps only its last body; these are the ones before it. */
const bodies = {
  opened: body =>
    JSON.stringify({ ...body, status: 'pending', resolution: null, delivery: at(body, 'waiting'), handedFence: null }),
  resolved: body => JSON.stringify({ ...body, delivery: at(body, 'waiting'), handedFence: null }),
  handed: body => JSON.stringify({ ...body, delivery: at(body, 'handed') }),
  taken: body => JSON.stringify(body),
}

export const recordingQueries = prefix => ({
  events: `SELECT seq, epoch, at, session, type, text, body_hash, hash FROM ${prefix}event ORDER BY seq`,
  requests: `SELECT id, ord, session, version, fixed, body FROM ${prefix}request`,
  idems: `SELECT id, ord, at, body FROM ${prefix}idem`,
})

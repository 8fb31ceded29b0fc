/** Converts the rows that a measured run has written into a list of changes, so that a bare program can write the same bytes. */

/** Each change consists of its step, the row of the request after this step, the event, and the row of the idempotency key, if any. */
export function changesOf({ events, requests, idems }) {
  const requestOf = new Map(requests.map(row => [row.id, row]))
  const idemOf = new Map(idems.map(row => [Number(row.ord), row]))
  const changes = []
  for (const event of events) {
    const [noun, step] = event.type.split('.')
    if (noun !== 'request') continue
    const body = JSON.parse(event.text)
    const request = requestOf.get(body.value?.id ?? body.request)
    // The sequence number of an idempotency row is one higher than that of the event in the same change.
    changes.push({
      step,
      request: { ...request, body: bodies[step](JSON.parse(request.body)) },
      event,
      idem: idemOf.get(Number(event.seq) + 1),
    })
  }
  return changes
}

const delivery = (body, state) => ({ state, at: body.delivery.at })
/** Functions that rebuild the body of a request after each step, because the table contains only the last body. */
const bodies = {
  opened: body =>
    JSON.stringify({
      ...body,
      status: 'pending',
      resolution: null,
      delivery: delivery(body, 'waiting'),
      handedFence: null,
    }),
  resolved: body => JSON.stringify({ ...body, delivery: delivery(body, 'waiting'), handedFence: null }),
  handed: body => JSON.stringify({ ...body, delivery: delivery(body, 'handed') }),
  taken: body => JSON.stringify(body),
}

export const recordingQueries = prefix => ({
  events: `SELECT seq, epoch, at, session, type, text, body_hash, hash FROM ${prefix}event ORDER BY seq`,
  requests: `SELECT id, ord, session, version, fixed, body FROM ${prefix}request`,
  idems: `SELECT id, ord, at, body FROM ${prefix}idempotency`,
})

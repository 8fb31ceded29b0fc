/** Opens many subscriptions to one event stream. The first subscription keeps the received bytes, and the others only count them. */
import { openStream } from '../kit/http-client.mjs'

let counts = []
let firstBytes = []
let onBytes = () => {}

export async function open({ url, token, count }) {
  counts = new Array(count).fill(0)
  // Connect in batches, so that the backlog of the listening socket does not overflow.
  const batch = 50
  for (let first = 0; first < count; first += batch)
    await Promise.all(
      Array.from({ length: Math.min(batch, count - first) }, (_, i) =>
        openStream(url, token, bytes => {
          counts[first + i] += bytes.length
          if (first + i === 0) firstBytes.push(bytes)
          onBytes()
        }),
      ),
    )
}

/** Discards everything received so far, such as the gateway's `hello`. */
export function reset() {
  counts.fill(0)
  firstBytes = []
}

/** Resolves with the bytes of the first subscription. Waits until this subscription has received the given number of events or bytes, and until every other subscription has received the same number of bytes. */
export async function all({ events, bytes }) {
  for (;;) {
    const text = Buffer.concat(firstBytes)
    const isComplete =
      bytes === undefined ? text.toString().split('"type":"message.added"').length > events : counts[0] >= bytes
    if (isComplete && text.subarray(-2).equals(Buffer.from('\n\n')) && counts.every(count => count === counts[0]))
      return text
    await new Promise(resolve => {
      const timer = setTimeout(resolve, 5)
      onBytes = () => {
        if (counts[counts.length - 1] < counts[0]) return
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

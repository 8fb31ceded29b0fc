/** So many watchers of one stream. The first of them keeps what it reads; all others count and drop it. */
import { openStream } from '../kit/wire.mjs'

let counts = []
let kept = []
let changed = () => {}

export async function open({ url, token, count }) {
  counts = new Array(count).fill(0)
  // A few at a time, so that no backlog of the listening socket overflows.
  const few = 50
  for (let first = 0; first < count; first += few)
    await Promise.all(
      Array.from({ length: Math.min(few, count - first) }, (_, i) =>
        openStream(url, token, bytes => {
          counts[first + i] += bytes.length
          if (first + i === 0) kept.push(bytes)
          changed()
        }),
      ),
    )
}

/** Forgets what came so far: hello, on a stream of ours. */
export function reset() {
  counts.fill(0)
  kept = []
}

/** Resolves when the first watcher has so many events, or bytes where they are known, and every other one has as many bytes as it. Returns those bytes. */
export async function all({ events, bytes }) {
  for (;;) {
    const text = Buffer.concat(kept)
    const whole =
      bytes === undefined ? text.toString().split('"type":"message.added"').length > events : counts[0] >= bytes
    if (whole && text.subarray(-2).equals(Buffer.from('\n\n')) && counts.every(count => count === counts[0]))
      return text
    await new Promise(resolve => {
      const late = setTimeout(resolve, 5)
      changed = () => {
        if (counts[counts.length - 1] < counts[0]) return
        clearTimeout(late)
        resolve()
      }
    })
  }
}

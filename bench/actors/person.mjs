/** A person's program: watches the stream and allows whatever is asked, as soon as it is seen. */
import { answer } from '../kit/asks.mjs'
import { openFrames, openWire } from '../kit/wire.mjs'

export async function watch({ url, token }) {
  const wire = await openWire(url)
  await new Promise((resolve, reject) => {
    const seen = ({ frame, event }) => {
      if (frame === 'hello') resolve()
      if (event?.type !== 'request.opened') return
      const { id, digest } = event.value
      wire.call('POST', `/requests/${id}/answer`, token, { digest, answer }).catch(error => {
        console.error(error)
        process.exit(1)
      })
    }
    openFrames(url, token, seen).catch(reject)
  })
}

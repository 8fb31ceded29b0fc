/** Acts as a person: watches the event stream and allows every request at once. */
import { answer } from '../kit/asks.mjs'
import { openFrames, openHttpClient } from '../kit/http-client.mjs'

export async function watch({ url, token }) {
  // The gateway closes a connection that sends nothing for long, so it is opened with the first answer.
  let http = null
  await new Promise((resolve, reject) => {
    const onFrame = ({ frame, event }) => {
      if (frame === 'hello') resolve()
      if (event?.type !== 'request.opened') return
      const { id, digest } = event.value
      http ??= openHttpClient(url)
      const answered = http.then(client => client.call('POST', `/requests/${id}/answer`, token, { digest, answer }))
      answered.catch(error => {
        console.error(error)
        process.exit(1)
      })
    }
    openFrames(url, token, onFrame).catch(reject)
  })
}

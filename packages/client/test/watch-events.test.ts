import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { watchEvents } from '@holdpoint/client'
import { expect, it } from 'vitest'
import { secrets, startTestServer } from '../../server/test/test-server.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void // the flag above defines `gc`

it('watchEvents ends when its signal aborts, even if Node has garbage-collected the request', async () => {
  const gateway = await startTestServer()
  const stop = new AbortController()
  const frames: string[] = []
  const watching = (async () => {
    for await (const { frame } of watchEvents({ url: gateway.url, token: secrets.person }, { signal: stop.signal })) {
      frames.push(frame)
      // In Node 20, `fetch` has only a weak reference to the request, and the request holds the signal. Once the request is garbage-collected, `fetch` ignores the signal.
      setImmediate(collectGarbage)
      setTimeout(() => stop.abort(), 50)
    }
  })()
  await watching
  expect(frames).toEqual(['hello'])
  await gateway.close()
})

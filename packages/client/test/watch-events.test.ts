import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { watchEvents } from '@holdpoint/client'
import { expect, it } from 'vitest'
import { secrets, startTestServer } from '../../server/test/test-server.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void // the flag above puts it there

it('ends when it is told to, even where the platform has forgotten the signal', async () => {
  const gateway = await startTestServer()
  const stop = new AbortController()
  const frames: string[] = []
  const watching = (async () => {
    for await (const { frame } of watchEvents({ url: gateway.url, token: secrets.person }, { signal: stop.signal })) {
      frames.push(frame)
      // Node 20 keeps the request of a fetch only weakly, and its signal with it.
      setImmediate(collectGarbage)
      setTimeout(() => stop.abort(), 50)
    }
  })()
  await watching
  expect(frames).toEqual(['hello'])
  await gateway.close()
})

/** Measures the duration of `holdpoint inbox` with pending requests, compared with a node process that does nothing. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askNumbered } from '../kit/asks.mjs'
import { startGateway } from '../kit/gateway.mjs'
import { openHttpClient } from '../kit/http-client.mjs'
import { median } from '../kit/numbers.mjs'
import { timedProcess } from '../kit/timed-process.mjs'

const program = fileURLToPath(new URL('../../packages/cli/bin/holdpoint.js', import.meta.url))
const pendingRequests = 20

export async function measure({ folder, quick }) {
  const home = join(folder, 'home')
  const gateway = await startGateway({ home })
  await fill(gateway)
  const measured = []
  const bare = []
  // Alternate between the two processes, so that other load on the machine affects both.
  for (let i = 0; i < (quick ? 5 : 15); i++) {
    measured.push(await timedProcess([program, 'inbox', '--home', home]))
    bare.push(await timedProcess(['-e', '0']))
  }
  await gateway.stop()
  return { inbox_start_ms: { measured: median(measured), bare: median(bare) } }
}

async function fill({ url, token }) {
  const http = await openHttpClient(url)
  for (let i = 0; i < pendingRequests; i++) {
    const { id } = await http.post('/sessions', token, { driver: 'external', title: `session ${i}` })
    await http.post(`/sessions/${id}/requests`, token, { key: 'k', ask: askNumbered(i) })
  }
  http.close()
}

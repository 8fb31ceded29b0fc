/** From the spawn of `holdpoint inbox` to its end, with something waiting in a gateway that runs, beside a node process that does nothing. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askNumbered } from '../kit/asks.mjs'
import { startGateway } from '../kit/gateway.mjs'
import { median, msSince } from '../kit/numbers.mjs'
import { openWire } from '../kit/wire.mjs'

const program = fileURLToPath(new URL('../../packages/cli/bin/holdpoint.js', import.meta.url))
const waiting = 20

export async function measure({ folder, quick }) {
  const home = join(folder, 'home')
  const gateway = await startGateway({ home })
  await fill(gateway)
  const ours = []
  const bare = []
  // In turns, so that a machine that is busy for a while is busy for both.
  for (let i = 0; i < (quick ? 5 : 15); i++) {
    ours.push(await timed([program, 'inbox', '--home', home]))
    bare.push(await timed(['-e', '0']))
  }
  await gateway.stop()
  return { inbox_start_ms: { measured: median(ours), bare: median(bare) } }
}

async function fill({ url, token }) {
  const wire = await openWire(url)
  for (let i = 0; i < waiting; i++) {
    const { id } = await wire.post('/sessions', token, { driver: 'external', title: `session ${i}` })
    await wire.post(`/sessions/${id}/requests`, token, { key: 'k', ask: askNumbered(i) })
  }
  wire.close()
}

async function timed(args) {
  const start = process.hrtime.bigint()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const code = await new Promise(done => child.once('exit', done))
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
  return msSince(start)
}

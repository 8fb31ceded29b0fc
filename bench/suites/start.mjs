/** Measures the time from starting `holdpoint up` with an empty data folder until it prints its first line, compared with a bare node process that listens. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { firstLine, startGateway } from '../kit/gateway.mjs'
import { median, msSince } from '../kit/numbers.mjs'

const starts = 5
const bareProgram = "require('node:http').createServer(() => {}).listen(0, '127.0.0.1', () => console.log('listening'))"

export async function measure({ folder }) {
  const measured = []
  const bare = []
  for (let i = 0; i < starts; i++) {
    const start = process.hrtime.bigint()
    const gateway = await startGateway({ home: join(folder, `home-${i}`), runner: 'process', command: 'up' })
    measured.push(msSince(start))
    await gateway.stop()
    bare.push(await bareStart())
  }
  return { start_ms: { measured: median(measured), bare: median(bare) } }
}

async function bareStart() {
  const start = process.hrtime.bigint()
  const child = spawn(process.execPath, ['-e', bareProgram], { stdio: ['ignore', 'pipe', 'inherit'] })
  await firstLine(child)
  const ms = msSince(start)
  child.kill()
  return ms
}

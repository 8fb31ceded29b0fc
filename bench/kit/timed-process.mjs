/** Runs a node process to its end and measures how long that takes. */
import { spawn } from 'node:child_process'
import { msSince } from './numbers.mjs'

export async function timedProcess(args, input = '') {
  const start = process.hrtime.bigint()
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'inherit'] })
  // Writing fails if the process ends without reading its input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const code = await new Promise(done => child.once('exit', done))
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
  return msSince(start)
}

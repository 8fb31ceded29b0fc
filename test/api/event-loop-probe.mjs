/** Runs in a gateway process (`node --import`) and measures how long its event loop is blocked. A connection to the socket in PROBE_SOCKET starts a measurement. The reply to its end is the longest stretch in milliseconds of CPU time, and how long a fixed piece of work took meanwhile, which says how fast the machine is now. */
import { hash } from 'node:crypto'
import { createServer } from 'node:net'

let running = false
let longest = 0
let before = 0

function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Runs once in each iteration of the event loop. The CPU time since the last run is the time for which other clients had to wait. */
function measure() {
  const now = cpuMs()
  longest = Math.max(longest, now - before)
  before = now
  if (running) setImmediate(measure)
}

const words = Array.from({ length: 1000 }, (_, i) => ({ id: i, text: `some "text" ${i}`.repeat(8) }))
/** Returns the CPU time of a piece of work that is like the work of a gateway: JSON, texts and a digest. */
function referenceMs() {
  const start = cpuMs()
  hash('sha256', JSON.stringify(JSON.parse(JSON.stringify(words))))
  return cpuMs() - start
}
for (let i = 0; i < 20; i++) referenceMs()

createServer({ allowHalfOpen: true }, socket => {
  const reference = referenceMs()
  running = true
  longest = 0
  before = cpuMs()
  setImmediate(measure)
  socket.write('.')
  socket.resume()
  socket.on('end', () => {
    // Let the current iteration end, so that its work counts.
    setImmediate(() =>
      setImmediate(() => {
        running = false
        socket.end(`${longest} ${(reference + referenceMs()) / 2}`)
      }),
    )
  })
  socket.on('error', () => {})
})
  .listen(process.env.PROBE_SOCKET)
  .unref()

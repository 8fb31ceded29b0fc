/**
 * Runs in a gateway process (`node --import`) and measures how long its event loop is blocked. A connection to the socket
 * in PROBE_SOCKET starts a measurement. When the client ends its side, the probe replies with the longest stretch in
 * milliseconds of CPU time, and with how long a fixed piece of work takes now, which says how fast the machine is. The CPU
 * time of the process is that of its main thread, because the gateway runs with --single-threaded: that thread also
 * collects garbage and compiles code.
 */
import { hash } from 'node:crypto'
import { createServer } from 'node:net'

let timer = null
let longest = 0
let before = 0

function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Runs in each iteration of the event loop that takes more than a millisecond. The CPU time since the last run is the time for which other clients had to wait. A timer, unlike `setImmediate`, lets the process sleep, so that measuring does not slow down the test on a busy machine. */
function measure() {
  const now = cpuMs()
  longest = Math.max(longest, now - before)
  before = now
  timer = setTimeout(measure, 1)
}

const text = Array.from({ length: 3000 }, (_, i) => `word${i % 900} "some text" /path/${i};`).join('')
/** Returns the CPU time of a piece of work that is like the work of a gateway: patterns, sets, objects, JSON and a hash. */
function referenceMs() {
  const start = cpuMs()
  const words = [...new Set(text.split(/[\s;"]+/))].filter(word => !/^word\d7/.test(word))
  const values = words.map((word, id) => ({ id, word: word.toUpperCase(), isPath: word.startsWith('/') }))
  hash('sha256', JSON.stringify(values))
  return cpuMs() - start
}
/** One run can be disturbed by garbage collection. */
function medianReferenceMs() {
  const times = Array.from({ length: 7 }, referenceMs).sort((a, b) => a - b)
  return times[3]
}
for (let i = 0; i < 50; i++) referenceMs()

createServer({ allowHalfOpen: true }, socket => {
  longest = 0
  before = cpuMs()
  clearTimeout(timer)
  measure()
  socket.write('.')
  socket.resume()
  socket.on('end', () => {
    // Let the current iteration end, so that its work counts.
    setImmediate(() =>
      setImmediate(() => {
        measure()
        clearTimeout(timer)
        socket.end(`${longest} ${medianReferenceMs()}`)
      }),
    )
  })
  socket.on('error', () => {})
})
  .listen(process.env.PROBE_SOCKET)
  .unref()

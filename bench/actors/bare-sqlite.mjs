/** The same rows without us: a loop that commits what a measured run wrote, in transactions of a given size. */
import { msSince } from '../kit/numbers.mjs'
import { openBareCommits, readRecording } from '../kit/sqlite.mjs'

let changes
let bare
let next = 0

function take(count) {
  next += count
  return changes.slice(next - count, next)
}

export async function open({ recording, file }) {
  changes = readRecording(recording)
  bare = await openBareCommits(file)
  return changes.length
}

/** The next so many changes. */
export function run({ count, perCommit }) {
  const cpuBefore = process.cpuUsage()
  const start = process.hrtime.bigint()
  for (let done = 0; done < count; done += perCommit) bare.commit(take(Math.min(perCommit, count - done)))
  const ms = msSince(start)
  const { user, system } = process.cpuUsage(cpuBefore)
  return { cpuUs: user + system, ms }
}

/** How long each run of `group` single commits took; a change that is `left` out is committed as well, untimed. */
export function time({ groups, group, leftOut }) {
  const times = []
  for (let i = 0; i < groups; i++) {
    const start = process.hrtime.bigint()
    for (const change of take(group)) bare.commit([change])
    times.push(msSince(start))
    for (const change of take(leftOut)) bare.commit([change])
  }
  return times
}

export function close() {
  bare.close()
}

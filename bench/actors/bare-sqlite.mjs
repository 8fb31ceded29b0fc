/** Commits the recorded rows using only the SQLite library, in a loop of transactions of a given size. */
import { msSince } from '../kit/numbers.mjs'
import { openBareCommits, readRecording } from '../kit/sqlite.mjs'

let changes
let bare
let next = 0

function nextChanges(count) {
  next += count
  return changes.slice(next - count, next)
}

export async function open({ recording, file }) {
  changes = readRecording(recording)
  bare = await openBareCommits(file)
  return changes.length
}

/** Commits the next `count` changes. */
export function run({ count, perCommit }) {
  const cpuBefore = process.cpuUsage()
  const start = process.hrtime.bigint()
  for (let done = 0; done < count; done += perCommit) bare.commit(nextChanges(Math.min(perCommit, count - done)))
  const ms = msSince(start)
  const { user, system } = process.cpuUsage(cpuBefore)
  return { cpuUs: user + system, ms }
}

/** Measures groups of `group` commits with one change each. After each group, commits `leftOut` changes without measuring them. */
export function time({ groups, group, leftOut }) {
  const times = []
  for (let i = 0; i < groups; i++) {
    const start = process.hrtime.bigint()
    for (const change of nextChanges(group)) bare.commit([change])
    times.push(msSince(start))
    for (const change of nextChanges(leftOut)) bare.commit([change])
  }
  return times
}

export function close() {
  bare.close()
}

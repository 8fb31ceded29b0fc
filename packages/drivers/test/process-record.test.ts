/** Tests that only processes that a runner has recorded are recognized and killed, also on systems without /proc. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { isProcessRunning, killRecorded } from '../src/process-record.ts'
import { listedStartTime, processStartTime } from '../src/process-start-time.ts'

async function startSleep() {
  const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  return { child, pid: child.pid ?? 0 }
}

it('a process whose recorded start time is unknown or differs is not killed and does not count as running', async () => {
  const { child, pid } = await startSleep()
  for (const startTime of ['', 'another time']) {
    const record = { pid, startTime, tag: 'unused' }
    expect(isProcessRunning(record)).toBe(false)
    killRecorded(record)
  }
  expect(processStartTime(pid)).not.toBe('')
  const ended = once(child, 'exit')
  killRecorded({ pid, startTime: processStartTime(pid), tag: 'unused' })
  expect((await ended)[1]).toBe('SIGKILL')
})

it('the start time that ps prints is the same at every call, and empty once the process has ended', async () => {
  const { child, pid } = await startSleep()
  const started = listedStartTime(pid)
  expect(started).toMatch(/\d\d:\d\d:\d\d/)
  expect(listedStartTime(pid)).toBe(started)
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  expect(listedStartTime(pid)).toBe('')
})

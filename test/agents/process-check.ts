/** Finds the processes of an agent that are still running after a test. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'

export interface FoundProcess {
  readonly pid: number
  readonly command: string
}

/** Returns the processes whose environment names the home folder, or whose working folder is inside it. Linux only. */
export function processesOf(home: string): readonly FoundProcess[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap(name => {
      try {
        const isInside = readlinkSync(`/proc/${name}/cwd`).startsWith(home)
        if (!isInside && !readFileSync(`/proc/${name}/environ`, 'utf8').includes(home)) return []
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
        return [{ pid: Number(name), command }]
      } catch {
        return [] // the process has already ended, or belongs to another user
      }
    })
}

/** Waits until no process of the home folder is left. After the time limit, ends the processes that are left, and fails. */
export async function expectNoProcessLeft(home: string, timeoutMs = 5000): Promise<void> {
  const endAt = Date.now() + timeoutMs
  let left = processesOf(home)
  while (left.length > 0 && Date.now() < endAt) {
    await delay(50)
    left = processesOf(home)
  }
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
  }
  expect(
    left.map(({ pid, command }) => `${pid} ${command}`),
    `processes of ${home} that are left`,
  ).toEqual([])
}

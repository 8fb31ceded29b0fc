/** Whether an agent can work in a folder of this machine, before anything is started in it. */

import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { messageOf } from '@holdpoint/protocol'

/** Nothing has this name, or what it lies in is a file. */
const absent = new Set<unknown>(['ENOENT', 'ENOTDIR'])

/** What is wrong with it, and what to do; null where nothing is. */
export function cwdProblem(cwd: string): string | null {
  if (!isAbsolute(cwd)) return `The folder "${cwd}" is not an absolute path; start a session with the whole path of one`
  try {
    return statSync(cwd).isDirectory() ? null : `${cwd} is not a folder; start a session in one`
  } catch (error) {
    if (error instanceof Error && 'code' in error && absent.has(error.code))
      return `The folder ${cwd} is not there; make it, or start a session in another`
    return `The folder ${cwd} cannot be used: ${messageOf(error)}`
  }
}

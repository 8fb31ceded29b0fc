/** Checks that an agent can work in a folder of this machine, before a process is started in it. */
import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { messageOf } from '@holdpoint/protocol'
import { cwdProblems } from '../messages.ts'

const missingCodes = new Set<unknown>(['ENOENT', 'ENOTDIR'])

/** What is wrong with the folder and what to do about it; null if nothing is wrong. */
export function cwdProblem(cwd: string): string | null {
  if (!isAbsolute(cwd)) return cwdProblems.relative(cwd)
  try {
    return statSync(cwd).isDirectory() ? null : cwdProblems.notFolder(cwd)
  } catch (error) {
    if (error instanceof Error && 'code' in error && missingCodes.has(error.code)) return cwdProblems.missing(cwd)
    return cwdProblems.unusable(cwd, messageOf(error))
  }
}

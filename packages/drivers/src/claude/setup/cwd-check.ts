/** Checks that a folder on this machine can be used as the working folder, before the CLI is started there. */
import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { messageOf } from '@holdpoint/protocol'
import { cwdProblems } from '../messages.ts'

const missingCodes = new Set<unknown>(['ENOENT', 'ENOTDIR'])

/** Returns what is wrong with the folder and what to do about it, or null if the folder can be used. */
export function cwdProblem(cwd: string): string | null {
  if (!isAbsolute(cwd)) return cwdProblems.relative(cwd)
  try {
    return statSync(cwd).isDirectory() ? null : cwdProblems.notFolder(cwd)
  } catch (error) {
    if (error instanceof Error && 'code' in error && missingCodes.has(error.code)) return cwdProblems.missing(cwd)
    return cwdProblems.unusable(cwd, messageOf(error))
  }
}

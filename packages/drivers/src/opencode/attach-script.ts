/** A script that opens a session's conversation in a terminal. It holds the password of the server, so only its owner can read it. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinWords } from '../shell-quote.ts'

export interface AttachTarget {
  readonly executable: string
  readonly url: string
  readonly password: string
  readonly conversation: string
  readonly cwd: string
}

const scriptFile = (folder: string) => join(folder, 'attach')

/** Returns the path of the script. */
export function writeAttachScript(
  folder: string,
  { executable, url, password, conversation, cwd }: AttachTarget,
): string {
  const words = [executable, 'attach', url, '--session', conversation, '--dir', cwd]
  const file = scriptFile(folder)
  // The password is not an argument, because other users can read the arguments of a process.
  const text = `#!/bin/sh\nOPENCODE_SERVER_PASSWORD=${joinWords([password])} exec ${joinWords(words)}\n`
  rmSync(file, { force: true })
  writeFileSync(file, text, { mode: 0o700 })
  return file
}
export function removeAttachScript(folder: string): void {
  rmSync(scriptFile(folder), { force: true })
}

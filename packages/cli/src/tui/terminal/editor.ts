/** The person's own editor, on a file that nobody else can read and that is gone afterwards. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withoutSecrets } from '../../runner/isolate-agents.ts'

/** Null where the editor could not be started, or said that it failed. */
export async function editText(text: string, env = process.env): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-edit-'))
  const file = join(folder, 'text')
  try {
    await writeFile(file, text, { mode: 0o600 })
    const editor = env.VISUAL || env.EDITOR || 'vi'
    // Words in the variable are its arguments, as everywhere else; the file is one of its own. Ctrl+C is the editor's, not the shell's around it.
    const command = `trap : INT; ${editor} "$1"`
    const child = spawn('/bin/sh', ['-c', command, 'sh', file], { stdio: 'inherit', env: withoutSecrets(env) })
    const code = await new Promise<number | null>(resolve => {
      child.once('error', () => resolve(null))
      child.once('exit', resolve)
    })
    return code === 0 ? await readFile(file, 'utf8') : null
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

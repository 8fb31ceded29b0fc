/** Opens text in the person's editor, in a private temporary file that is removed afterwards. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withoutHoldpointVariables } from '@holdpoint/drivers'

/** The extension of the file, from which an editor knows the language. */
export type EditorExtension = `.${string}`
/** Opens a text in the person's editor, and resolves with the edited text or, if that fails, with null. */
export type Editor = (text: string, extension: EditorExtension) => Promise<string | null>

/** Returns the edited text, or null if the editor could not be started or exited with an error. */
export async function editText(text: string, extension: EditorExtension, env = process.env): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-edit-'))
  const file = join(folder, `text${extension}`)
  try {
    await writeFile(file, text, { mode: 0o600 })
    const editor = env.VISUAL || env.EDITOR || 'vi'
    // VISUAL and EDITOR may contain arguments, so a shell splits them. The trap keeps Ctrl+C in the editor from ending the shell.
    const command = `trap : INT; ${editor} "$1"`
    const child = spawn('/bin/sh', ['-c', command, 'sh', file], {
      stdio: 'inherit',
      env: withoutHoldpointVariables(env),
    })
    const code = await new Promise<number | null>(resolve => {
      child.once('error', () => resolve(null))
      child.once('exit', resolve)
    })
    return code === 0 ? await readFile(file, 'utf8') : null
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Flushes a folder to disk. A new, renamed or removed file is durable only after that. */
import { open } from 'node:fs/promises'

/** Windows cannot open folders and does not need the flush. */
export async function flushFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

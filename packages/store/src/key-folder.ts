/** Keeps the keys of secret answers as separate files, so that neither the database nor its backups ever contain them and a deleted key is gone. */
import { mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyStore } from '@holdpoint/engine'
import { fileFault } from './file-fault.ts'
import { flushFolder } from './flush-folder.ts'

export class KeyFolder implements KeyStore {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  async put(id: string, key: string): Promise<void> {
    await this.#run(async () => {
      await mkdir(this.#path, { recursive: true, mode: 0o700 })
      const file = await open(this.#file(id), 'wx', 0o600)
      try {
        await file.writeFile(key)
        await file.datasync()
      } finally {
        await file.close()
      }
      await flushFolder(this.#path)
    })
  }

  get(id: string): Promise<string | undefined> {
    return this.#run(() => readFile(this.#file(id), 'utf8').catch(ifMissing(undefined)))
  }

  async delete(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#run(() => this.#erase(this.#file(id)).catch(ifMissing(undefined)))
  }

  /** Overwrites the key before the file is removed, because a removed file may stay on the disk. */
  async #erase(path: string): Promise<void> {
    const file = await open(path, 'r+')
    try {
      const { size } = await file.stat()
      await file.write(Buffer.alloc(size), 0, size, 0)
      await file.datasync()
    } finally {
      await file.close()
    }
    await unlink(path)
  }

  list(ageMs: number): Promise<readonly string[]> {
    return this.#run(async () => {
      const names = await readdir(this.#path).catch(ifMissing<string[]>([]))
      const old = await Promise.all(names.map(name => this.#isOlder(name, ageMs)))
      return names.filter((_, index) => old[index])
    })
  }
  async #isOlder(name: string, ageMs: number): Promise<boolean> {
    const found = await stat(this.#file(name)).catch(ifMissing(null))
    return found !== null && Date.now() - found.mtimeMs >= ageMs
  }

  /** The keys of a SQLite store belong to one gateway. */
  async share(): Promise<void> {}

  #file(id: string): string {
    return join(this.#path, id)
  }
  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw fileFault(this.#path, error)
    }
  }
}

function ifMissing<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return error => {
    if (error.code === 'ENOENT') return value
    throw error
  }
}

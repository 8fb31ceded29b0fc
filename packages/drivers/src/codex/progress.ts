/** The state of a session that must survive the death of its runner: the conversation, and how much of it is in the log. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const Progress = z.object({
  /** The conversation that this session has started. */
  startedThread: z.string().optional(),
  /** The last message that Codex has received. */
  receivedMessage: z.string().optional(),
  /** The completion time of the last item that is in the log, by the clock of Codex. */
  loggedUntilMs: z.number().default(0),
})
type Progress = z.infer<typeof Progress>

export class ProgressFile {
  readonly #folder: string
  #progress: Progress

  constructor(folder: string) {
    this.#folder = folder
    this.#progress = read(this.#file)
  }

  get current(): Progress {
    return this.#progress
  }

  update(change: Partial<Progress>): void {
    this.#progress = { ...this.#progress, ...change }
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    writeFileSync(this.#file, JSON.stringify(this.#progress), { mode: 0o600 })
  }

  get #file(): string {
    return join(this.#folder, 'progress.json')
  }
}

/** Ignores a damaged file. At worst, the log then contains some entries twice. */
function read(file: string): Progress {
  try {
    return Progress.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return { loggedUntilMs: 0 }
  }
}

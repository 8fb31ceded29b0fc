/** Notes the head of the log in a small file outside the database, so that the next start notices if the database has lost events since. */
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Head } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { fileFault } from './file-fault.ts'
import { flushFolder } from './flush-folder.ts'

/** The last known event, and the epoch of the store at that time. */
export type NotedHead = Pick<Head, 'seq' | 'hash' | 'epoch' | 'at'>

/** The difference between a store that lost events and the noted head. */
export interface StoreLoss {
  readonly lastSeq: number
  readonly lastAt: number
  /** The last event in the store. */
  readonly seq: number
  /** Whether the store has another event at the noted position, so that it is not just shorter. */
  readonly differs: boolean
}

/** A note is written at most once in this time. A loss of events that are younger than this is not noticed. */
const noteIntervalMs = 1000

export class HeadNote {
  readonly #file: string
  #latest: NotedHead | null = null
  #noted: NotedHead | null = null
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | null = null
  #writtenAt = Number.NEGATIVE_INFINITY
  /** Number of flushes to disk so far. */
  flushes = 0

  constructor(file: string) {
    this.#file = file
  }

  /** Returns the noted head, or null if there is none. */
  read(): NotedHead | null {
    if (!existsSync(this.#file)) return null
    try {
      const { seq, hash, epoch, at } = JSON.parse(readFileSync(this.#file, 'utf8')) as NotedHead // only `#write` writes this file
      if (Number.isSafeInteger(seq) && typeof hash === 'string' && Number.isSafeInteger(at))
        return { seq, hash, epoch, at }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw fileFault(this.#file, error)
    }
    throw new Fault(
      'store_lost',
      `${this.#file} is damaged. It notes the last event of the log, so Holdpoint cannot check whether events were lost. Check the log with “holdpoint audit verify”, then delete the file.`,
    )
  }

  /** Removes the note, so that the next start accepts any head. */
  remove(): void {
    rmSync(this.#file, { force: true })
  }

  /** Notes a head soon, without delaying the caller. Failures are ignored, because an old note only means that a loss may go unnoticed. */
  note(head: NotedHead): void {
    this.#latest = head
    if (this.#timer !== undefined || this.#writing) return
    const waitMs = Math.max(0, this.#writtenAt + noteIntervalMs - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      // The comment above says why an error can be ignored.
      void this.#writeLatest().catch(() => {})
    }, waitMs).unref()
  }

  /** Notes a head now, and rejects if that fails. */
  async noteNow(head: NotedHead): Promise<void> {
    this.#latest = head
    await this.flush()
  }

  /** Writes the latest head, if it is not written yet. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    // If the current write fails, the head is written again below.
    await this.#writing?.catch(() => {})
    await this.#writeLatest()
  }

  #writeLatest(): Promise<void> {
    const head = this.#latest
    if (!head || head === this.#noted) return Promise.resolve()
    this.#writtenAt = performance.now()
    const writing = this.#write(head).then(() => {
      this.#noted = head
    })
    this.#writing = writing
    // The caller gets the error of `writing`.
    void writing
      .finally(() => {
        this.#writing = null
        if (this.#latest && this.#latest !== head) this.note(this.#latest)
      })
      .catch(() => {})
    return writing
  }

  /** Writes a temporary file and renames it, so that a crash leaves the old or the new note. */
  async #write({ seq, hash, epoch, at }: NotedHead): Promise<void> {
    const temporary = `${this.#file}.new`
    try {
      const file = await open(temporary, 'w', 0o600)
      try {
        await file.writeFile(`${JSON.stringify({ seq, hash, epoch, at })}\n`)
        await file.datasync()
      } finally {
        await file.close()
      }
      await rename(temporary, this.#file)
      await flushFolder(dirname(this.#file))
      this.flushes += 2
    } catch (error) {
      throw fileFault(this.#file, error)
    }
  }
}

/** Compares the head of a store with the noted one. `hashAt` returns the hash of the event at a position of the store. */
export function findLoss(
  noted: NotedHead | null,
  head: Pick<Head, 'seq'>,
  hashAt: (seq: number) => string | undefined,
): StoreLoss | null {
  if (!noted || noted.seq === 0) return null
  const loss = { lastSeq: noted.seq, lastAt: noted.at, seq: head.seq }
  if (noted.seq > head.seq) return { ...loss, differs: false }
  return hashAt(noted.seq) === noted.hash ? null : { ...loss, differs: true }
}

/** Throws if events were noted but the database file is missing or empty, because opening it would create a new database in its place. */
export function requireFile(path: string, noted: NotedHead | null): void {
  if (noted && noted.seq > 0 && !statSync(path, { throwIfNoEntry: false })?.size)
    throw lossFault(path, { lastSeq: noted.seq, lastAt: noted.at, seq: 0, differs: false })
}

/** Returns the Fault that refuses to open a store that has lost events. */
export function lossFault(location: string, loss: StoreLoss): Fault {
  const last = `the last known event is ${loss.lastSeq} of ${new Date(loss.lastAt).toISOString()}`
  const problem = loss.differs
    ? `has another history than before: ${last}, and the store has a different event at that position`
    : `has lost events: ${last}, and the store ends at event ${loss.seq}`
  return new Fault(
    'store_lost',
    `${location} ${problem}. Put the missing files back (for SQLite, the file that ends in -wal belongs to the database), restore a backup with “holdpoint restore FILE”, or start without the lost events with “holdpoint up --accept-data-loss”, which revokes all credentials but yours and records the loss.`,
    loss,
  )
}

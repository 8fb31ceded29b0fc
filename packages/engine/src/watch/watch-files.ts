/** The files with watchers that are in force: which rows a file should have in the store, and which of them apply to a session. */
import { hash } from 'node:crypto'
import { canonicalJson, type RunnerId } from '@holdpoint/protocol'
import { isInside, type RuleContext, WatcherSet, type WatchFile } from '@holdpoint/rules'
import type { ChangeBuilder } from '../change-builder.ts'
import type { WatchFileRow } from '../rows.ts'
import type { RuleFile } from '../rule-files.ts'

/** The watchers that apply to a session. */
export interface SessionWatchers {
  readonly files: readonly WatchFileRow[]
  readonly set: WatcherSet
  readonly context: RuleContext
}

/** All stored files with watchers, as of one position in the log. */
export class WatchFiles {
  readonly #rows: readonly WatchFileRow[]
  /** The evaluators, by the files that they consist of. */
  readonly #sets = new Map<string, WatcherSet>()
  readonly #before: ReadonlyMap<string, WatcherSet>

  /** Reuses the evaluators of `before` for files that have not changed, because it takes long to parse their conditions. */
  constructor(rows: readonly WatchFileRow[], before?: WatchFiles) {
    this.#rows = rows
    this.#before = before ? before.#sets : new Map()
  }

  get rows(): readonly WatchFileRow[] {
    return this.#rows
  }

  /** Returns the watchers for a session, or null if there are none. */
  for(context: RuleContext): SessionWatchers | null {
    const files = this.#rows.filter(row => appliesTo(row, context))
    return files.length === 0 ? null : { files, set: this.#setOf(files), context }
  }

  #setOf(files: readonly WatchFileRow[]): WatcherSet {
    // Each write of a row has its own `ord`, also if the row was deleted in between.
    const key = files.map(({ id, ord }) => `${id} ${ord}`).join(' ')
    const known = this.#sets.get(key)
    if (known) return known
    const set = this.#before.get(key) ?? new WatcherSet(files.map(toWatchFile))
    this.#sets.set(key, set)
    return set
  }
}

/** The person's own file applies on every machine. */
function toWatchFile({ ord: _, runner, ...file }: WatchFileRow): WatchFile {
  return file.folder === null ? file : { ...file, runner }
}

/** The watchers of a project apply in its folder. The same path can be another project on another machine. */
function appliesTo({ folder, runner }: WatchFileRow, context: RuleContext): boolean {
  if (folder === null) return true
  if (context.folder === null || !isInside(context.folder, folder)) return false
  return context.runner === null || context.runner === runner
}

/** A row that a file should have. A row with new content gets its version when it is written. */
export type WantedWatchFile = Omit<WatchFileRow, 'ord' | 'version'> & { readonly version: number | null }

/**
 * Returns the rows that a file should have in the store, by id.
 * The trusted version stays until a person trusts the changed file or takes the trust back, and every version stays while the file cannot be used.
 */
export function wantedWatchFiles(
  { file, folder, trust, content }: RuleFile,
  before: readonly WatchFileRow[],
  runner: RunnerId,
): ReadonlyMap<string, WantedWatchFile> {
  const wanted = new Map<string, WantedWatchFile>()
  for (const row of before)
    if (content.kind === 'problem' || (trust === 'changed' && row.source.trusted)) wanted.set(row.id, row)
  if (content.kind !== 'rules') return wanted
  const { vars, watchers } = content
  if (watchers.length === 0 && Object.keys(vars).length === 0) return wanted
  const trusted = folder === null || trust === 'trusted'
  const id = hash('sha256', canonicalJson([runner, file, trusted])).slice(0, 32)
  const source = { file, trusted, project: folder !== null }
  const same = before.find(
    row => row.id === id && canonicalJson([row.vars, row.watchers]) === canonicalJson([vars, watchers]),
  )
  wanted.set(id, { id, runner, source, version: same?.version ?? null, folder, vars, watchers })
  return wanted
}

/** Returns the version of a file with new content. It is at least the next position of the log, so that the versions of a file do not begin again if the file has had no watchers in between. */
export function newVersion(change: ChangeBuilder, before: readonly WatchFileRow[]): number {
  return Math.max(change.nextSeq, ...before.map(row => row.version + 1))
}

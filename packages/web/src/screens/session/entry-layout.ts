/** The layout of a transcript entry: its indentation under subagents, and whether their names are shown. */
import type { Entry } from '@holdpoint/client'

export interface EntryLayout {
  readonly depth: number
  /** The names of its subagents, if the entry before belongs to others; else null. */
  readonly path: readonly string[] | null
  /** Whether there is a gap above, because the entry before is of another kind. */
  readonly spaced: boolean
}

const noPath: readonly string[] = []

function pathOf(entry: Entry | undefined): readonly string[] {
  return entry && 'agentPath' in entry ? entry.agentPath : noPath
}

export function entryLayout(entry: Entry, before: Entry | undefined): EntryLayout {
  const path = pathOf(entry)
  const hasSamePath = samePath(path, pathOf(before))
  return {
    depth: path.length,
    path: hasSamePath || path.length === 0 ? null : path,
    spaced: !hasSamePath || !isCompact(entry, before),
  }
}

/** Entries of the same kind have no gap between them, except messages. */
function isCompact(entry: Entry, before: Entry | undefined): boolean {
  return entry.kind === before?.kind && entry.kind !== 'message'
}

function samePath(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, i) => name === other[i])
}

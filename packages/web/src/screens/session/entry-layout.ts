/** The layout of a transcript entry: how far it is indented, whether the names of its subagents are shown, and the gap above it. */
import type { Entry } from '@holdpoint/client'

export interface EntryLayout {
  readonly depth: number
  /** The names of the subagents, or null if the previous entry is from the same subagents. */
  readonly path: readonly string[] | null
  /** True if there is a gap above this entry. */
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

/** Returns true if the entry needs no gap above, because the previous entry is of the same kind and neither entry is a message. */
function isCompact(entry: Entry, before: Entry | undefined): boolean {
  return entry.kind === before?.kind && entry.kind !== 'message'
}

function samePath(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, i) => name === other[i])
}

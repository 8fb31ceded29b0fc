/** The layout of a transcript entry: how far it is indented, whether the names of its subagents are shown, and the gap above it. */
import type { Entry } from '@holdpoint/client'

export interface EntryLayout {
  readonly depth: number
  /** The names of the subagents to show; null if the entry is not from a subagent, or the previous entry has the same path. */
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

/** Returns true if both entries are of the same kind and are not messages. There is no gap between such entries if they also have the same path. */
function isCompact(entry: Entry, before: Entry | undefined): boolean {
  return entry.kind === before?.kind && entry.kind !== 'message'
}

function samePath(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, i) => name === other[i])
}

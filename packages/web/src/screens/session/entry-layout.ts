/** Where an entry stands among the others: how deep under the agent that it belongs to, and whether that agent has to be named. */
import type { Entry } from '@holdpoint/client'

export interface EntryLayout {
  readonly depth: number
  /** The agents that lead to it, where the entry before belongs to others; else null. */
  readonly path: readonly string[] | null
  /** Whether the entry before is of another kind, so that some room parts them. */
  readonly spaced: boolean
}

const nobody: readonly string[] = []

function pathOf(entry: Entry | undefined): readonly string[] {
  return entry && 'agentPath' in entry ? entry.agentPath : nobody
}

export function entryLayout(entry: Entry, before: Entry | undefined): EntryLayout {
  const path = pathOf(entry)
  const same = samePath(path, pathOf(before))
  return { depth: path.length, path: same || path.length === 0 ? null : path, spaced: !same || !isLine(entry, before) }
}

/** Lines of one kind stand close together. */
function isLine(entry: Entry, before: Entry | undefined): boolean {
  return entry.kind === before?.kind && entry.kind !== 'message'
}

function samePath(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, i) => name === other[i])
}

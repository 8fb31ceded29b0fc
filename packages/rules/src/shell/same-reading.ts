/** Compares the two readings of a shell command. An allow rule relies on a command only if both readings are the same. */
import type { TreeSegment, TreeWord } from './tree-segments.ts'

/** Returns whether both readings have the same words at the same positions, the same operators and the same redirects. The first reading is null if the parser could not read the command. */
export function isSameReading(first: readonly TreeSegment[] | null, second: readonly TreeSegment[]): boolean {
  return first !== null && isSameList(first, second, isSameSegment)
}

function isSameSegment(a: TreeSegment, b: TreeSegment): boolean {
  return (
    a.operator === b.operator &&
    isSameList(a.words, b.words, isSameWord) &&
    isSameList(a.redirects, b.redirects, (redirect, other) => redirect === other)
  )
}

function isSameWord(a: TreeWord, b: TreeWord): boolean {
  return a.value === b.value && a.start === b.start && a.end === b.end
}

function isSameList<T>(a: readonly T[], b: readonly T[], isSame: (a: T, b: T) => boolean): boolean {
  return a.length === b.length && a.every((item, index) => isSame(item, b[index] as T)) // both lists have the same length
}

/** Choosing from a numbered list: arrows move, digits choose, space marks where several may be chosen. Nothing is chosen before a person has. */
import type { Key } from '../terminal/key-parser.ts'

export interface ListSelection {
  /** From 0; -1 before the first move. */
  readonly cursor: number
  /** Where several may be chosen; ascending. */
  readonly marked: readonly number[]
  /** Digits so far of a number that may have more. */
  readonly digits: string
}
export const emptySelection: ListSelection = { cursor: -1, marked: [], digits: '' }

export interface Choices {
  readonly count: number
  readonly many: boolean
}

/** Null where the key means nothing to a list. */
export function pressSelection(before: ListSelection, key: Key, { count, many }: Choices): ListSelection | null {
  const pick = key.late ? { ...before, digits: '' } : before
  const { cursor } = pick
  switch (key.name) {
    case 'up':
      return at(pick, cursor <= 0 ? count - 1 : cursor - 1)
    case 'down':
      return at(pick, cursor >= count - 1 ? 0 : cursor + 1)
    case 'home':
      return at(pick, 0)
    case 'end':
      return at(pick, count - 1)
    case 'backspace':
    case 'delete':
      return takenBack(pick, many)
    case 'text':
      if (key.text === ' ' && many) return cursor < 0 ? pick : toggled(at(pick, cursor), cursor)
      return /^\d$/.test(key.text) ? digit(pick, key.text, { count, many }) : null
    default:
      return null
  }
}

function at(pick: ListSelection, cursor: number): ListSelection {
  return { ...pick, cursor, digits: '' }
}

function toggled(pick: ListSelection, index: number): ListSelection {
  const { marked } = pick
  const next = marked.includes(index) ? marked.filter(one => one !== index) : [...marked, index]
  return { ...pick, marked: next.toSorted((a, b) => a - b) }
}

/** A second digit may make a larger number of the first, where there are so many. */
function digit(pick: ListSelection, typed: string, { count, many }: Choices): ListSelection | null {
  const longer = Number(pick.digits + typed)
  const joined = pick.digits !== '' && longer >= 1 && longer <= count
  const number = joined ? longer : Number(typed)
  if (number < 1 || number > count) return null
  const moved = { ...pick, cursor: number - 1, digits: joined ? pick.digits + typed : typed }
  if (!many) return moved
  // The first digit had marked another one.
  const clean = joined ? { ...moved, marked: toggled(pick, Number(pick.digits) - 1).marked } : moved
  return toggled(clean, number - 1)
}

/** The last digit goes, and what it chose with it; where none was typed, what stands at the cursor. */
function takenBack(pick: ListSelection, many: boolean): ListSelection {
  const { cursor, marked, digits } = pick
  const rest = digits.slice(0, -1)
  const back = { ...pick, cursor: many && rest === '' ? cursor : Number(rest) - 1, digits: rest }
  if (!many) return back
  const clean = digits !== '' || marked.includes(cursor) ? toggled(back, cursor) : back
  return rest === '' ? clean : toggled(clean, back.cursor)
}

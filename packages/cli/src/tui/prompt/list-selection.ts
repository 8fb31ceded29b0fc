/** The selection in a numbered list: arrows move the cursor, digits choose an item, and space marks items of a multiple-choice list. No item is selected at first. */
import type { Key } from '../terminal/key-parser.ts'

export interface ListSelection {
  /** The index of the selected item; -1 until the person moves the cursor or chooses an item. */
  readonly cursor: number
  /** The indexes of the marked items of a multiple-choice list, in ascending order. */
  readonly marked: readonly number[]
  /** The digits of an item number that have been typed so far; the next digit may extend the number. */
  readonly digits: string
}
export const emptySelection: ListSelection = { cursor: -1, marked: [], digits: '' }

export interface ListShape {
  readonly count: number
  readonly isMultiple: boolean
}

/** Returns the next selection, or null if the key has no meaning in a list. */
export function handleSelectionKey(
  before: ListSelection,
  key: Key,
  { count, isMultiple }: ListShape,
): ListSelection | null {
  const selection = key.afterPause ? { ...before, digits: '' } : before
  const { cursor } = selection
  switch (key.name) {
    case 'up':
      return moveTo(selection, cursor <= 0 ? count - 1 : cursor - 1)
    case 'down':
      return moveTo(selection, cursor >= count - 1 ? 0 : cursor + 1)
    case 'home':
      return moveTo(selection, 0)
    case 'end':
      return moveTo(selection, count - 1)
    case 'backspace':
    case 'delete':
      return undo(selection, isMultiple)
    case 'text':
      if (key.text === ' ' && isMultiple) return cursor < 0 ? selection : toggled(moveTo(selection, cursor), cursor)
      return /^\d$/.test(key.text) ? typeDigit(selection, key.text, { count, isMultiple }) : null
    default:
      return null
  }
}

function moveTo(selection: ListSelection, cursor: number): ListSelection {
  return { ...selection, cursor, digits: '' }
}

function toggled(selection: ListSelection, index: number): ListSelection {
  const { marked } = selection
  const next = marked.includes(index) ? marked.filter(one => one !== index) : [...marked, index]
  return { ...selection, marked: next.toSorted((a, b) => a - b) }
}

/** Handles a digit. The digit extends the typed number if the list has an item with the longer number; otherwise the digit starts a new number. */
function typeDigit(selection: ListSelection, typed: string, { count, isMultiple }: ListShape): ListSelection | null {
  const longer = Number(selection.digits + typed)
  const joined = selection.digits !== '' && longer >= 1 && longer <= count
  const number = joined ? longer : Number(typed)
  if (number < 1 || number > count) return null
  const moved = { ...selection, cursor: number - 1, digits: joined ? selection.digits + typed : typed }
  if (!isMultiple) return moved
  // The digits before this one have toggled another item, so toggle that item back.
  const clean = joined ? { ...moved, marked: toggled(selection, Number(selection.digits) - 1).marked } : moved
  return toggled(clean, number - 1)
}

/** Removes the last typed digit and the choice that it made. If no digit was typed, unmarks the item at the cursor; in a single-choice list, clears the selection. */
function undo(selection: ListSelection, many: boolean): ListSelection {
  const { cursor, marked, digits } = selection
  const rest = digits.slice(0, -1)
  const back = { ...selection, cursor: many && rest === '' ? cursor : Number(rest) - 1, digits: rest }
  if (!many) return back
  const clean = digits !== '' || marked.includes(cursor) ? toggled(back, cursor) : back
  return rest === '' ? clean : toggled(clean, back.cursor)
}

/** Inbox and sessions as they are drawn: two columns where there is room, one where there is not. */
import { trusted } from '../../output/span.ts'
import { cutSpans, type StyledLine, widthOfSpans } from '../../output/width.ts'
import type { Frame } from '../terminal/terminal.ts'
import type { DashboardModel } from './dashboard-model.ts'
import { groupsOf, headPiece, listPieces } from './session-list.ts'

const wideFrom = 80
const listShare = 0.32
const listMax = 40
/** The head, a line under it, the keys. */
const around = 3
const least = { columns: 20, rows: around + 1 }

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** Every line is put together here, by the one width that is counted by: so none of them is longer than the screen. */
export function dashboardFrame(
  model: DashboardModel,
  { url, now, columns, rows }: Size & { readonly url: string; readonly now: number },
): Frame {
  if (columns < least.columns || rows < least.rows) {
    // What is asked has no room, and is told so: nobody answers it now.
    model.pane(columns, 0)
    return { lines: [cutSpans([trusted('Too small a screen: enlarge it.', 'waiting')], columns)], spinner: null }
  }
  const height = rows - around
  const beside = columns >= wideFrom && !model.isWide
  const list = beside ? Math.min(listMax, Math.floor(columns * listShare)) : columns
  const pane = beside || model.isOpen ? model.pane(beside ? columns - list - 3 : columns, height) : null
  const items =
    beside || !pane
      ? listPieces(groupsOf(model.inbox), model.selected, { columns: list, height, now, focused: !model.isOpen })
      : []
  const body = Array.from({ length: height }, (_, at): StyledLine => {
    const [item = [], line = []] = [items[at], pane?.pieces[at]]
    if (!beside) return pane ? line : item
    const gap = ' '.repeat(Math.max(0, list - widthOfSpans(item)))
    return [...item, trusted(`${gap} │ `, 'quiet'), ...line]
  })
  const lines = [
    headPiece(model.inbox, url, columns),
    [trusted('─'.repeat(columns), 'quiet')],
    ...body,
    model.keys(columns),
  ]
  return { lines, spinner: pane?.busy ? { line: rows - 2, text: pane.busy } : null }
}

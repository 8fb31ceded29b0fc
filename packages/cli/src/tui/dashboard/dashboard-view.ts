/** Draws `holdpoint tui`: the list and the pane side by side, or one of them on a narrow screen. */
import { acceptsMessages, isInterruptible } from '@holdpoint/client'
import { row, trusted, untrusted, untrustedText } from '../../output/span.ts'
import { cutSpans, type StyledLine, widthOfSpans, wrap } from '../../output/width.ts'
import { isTextField } from '../prompt/key-policy.ts'
import { type KeyHint, keyRows } from '../prompt/layout/prompt-sections.ts'
import { textInputRows } from '../prompt/text-input-view.ts'
import type { ScreenFrame } from '../terminal/terminal.ts'
import type { DashboardModel } from './dashboard-model.ts'
import { paneOf } from './pane-view.ts'
import { headerLine, listLines } from './session-list.ts'
import { keyHints, spareKeys, dashboardTexts as texts } from './texts.ts'

/** On a narrower screen, the list and the pane would both be too narrow to read a command. */
const twoColumnsFrom = 100
const listShare = 0.32
const listMaxColumns = 40
/** The number of rows for the header and the line below it. */
const headerRows = 2
/** A hint that is wider than the screen takes at most this many rows. */
const footerMaxRows = 3
const minSize = { columns: 20, rows: headerRows + 2 }

export interface DashboardSize {
  readonly columns: number
  readonly rows: number
}

/** Builds the frame of the whole screen, in which no line is wider than the screen. */
export function dashboardFrame(
  model: DashboardModel,
  { url, now, columns, rows }: DashboardSize & { readonly url: string; readonly now: number },
): ScreenFrame {
  if (columns < minSize.columns || rows < minSize.rows) {
    // Lay out the pane with height 0, so that an open prompt is marked as not visible and accepts no answer.
    paneOf(model, columns, 0)
    return { lines: [cutSpans([trusted(texts.tooSmall, 'waiting')], columns)], spinner: null }
  }
  const footer = footerLines(model, columns).slice(0, Math.min(footerMaxRows, rows - headerRows - 1))
  const height = rows - headerRows - footer.length
  const isZoomed = model.isZoomed && model.hasPaneFocus
  const hasTwoColumns = columns >= twoColumnsFrom && !model.page && !isZoomed
  const listColumns = hasTwoColumns ? Math.min(listMaxColumns, Math.floor(columns * listShare)) : columns
  const paneColumns = hasTwoColumns ? columns - listColumns - 3 : columns
  const pane = hasTwoColumns || model.hasPaneFocus ? paneOf(model, paneColumns, height) : null
  const listSize = { columns: listColumns, height, now, isFocused: !model.hasPaneFocus }
  const list = hasTwoColumns || !pane ? listLines(model.list.groups, model.list.selected, listSize) : []
  const body = Array.from({ length: height }, (_, index): StyledLine => {
    const [item = [], line = []] = [list[index], pane?.lines[index]]
    if (!hasTwoColumns) return pane ? line : item
    const gap = ' '.repeat(Math.max(0, listColumns - widthOfSpans(item)))
    return [...item, trusted(`${gap} │ `, 'quiet'), ...line]
  })
  const lines = [headerLine(model.inbox, url, columns), [trusted('─'.repeat(columns), 'quiet')], ...body, ...footer]
  return { lines, spinner: pane?.spinner ? { line: rows - footer.length - 1, text: pane.spinner } : null }
}

/** Returns the last lines of the screen: a hint, or one line with the keys that work now. */
function footerLines(model: DashboardModel, columns: number): readonly StyledLine[] {
  if (model.hint !== null && !isFilterOpen(model)) return wrap(row(untrusted(model.hint, 'strong')), columns)
  return [keyLine(model, columns)]
}
function isFilterOpen({ list, hasPaneFocus }: DashboardModel): boolean {
  return list.isFiltering && !hasPaneFocus
}
function keyLine(model: DashboardModel, columns: number): StyledLine {
  const { list } = model
  if (isFilterOpen(model))
    return textInputRows({ label: texts.filterLabel, line: list.filter }, columns, 1)[0]?.spans ?? []
  const isFiltered = list.filter.text !== '' && keyTarget(model) === 'list'
  const filter = isFiltered ? [trusted(texts.filtered, 'waiting'), untrustedText(list.filter.text), trusted('  ')] : []
  const keys = fittingKeys(shownKeys(model, columns), Math.max(1, columns - widthOfSpans(filter)))
  return cutSpans([...filter, ...keys], columns)
}
/** Returns one line with the keys, without the least important ones if not all of them fit. */
function fittingKeys(keys: readonly KeyHint[], columns: number): StyledLine {
  const [line, ...more] = keyRows(keys, columns)
  const spare = more.length > 0 ? spareKeys.find(key => keys.some(([one]) => one === key)) : undefined
  if (spare === undefined) return line?.spans ?? []
  return fittingKeys(
    keys.filter(([key]) => key !== spare),
    columns,
  )
}
/** Leaves out keys that have no effect on the agent of the open session. */
function shownKeys(model: DashboardModel, columns: number): readonly KeyHint[] {
  if (model.page) return model.page.keys
  if (model.list.filter.text !== '' && keyTarget(model) === 'list') return keyHints.filtered
  const target = keyTarget(model)
  const { session } = model
  const useless = [
    ...(session && !acceptsMessages(session) ? ['Enter'] : []),
    ...(session && !isInterruptible(session) ? ['I'] : []),
  ]
  if (target === 'session') return keyHints.session.filter(([key]) => !useless.includes(key))
  // In a text field, a letter is text. On a narrow screen, a request has the whole width anyway.
  const { prompt } = model.controller
  const letters = prompt && isTextField(prompt) ? ['z', '?'] : columns < twoColumnsFrom ? ['z'] : []
  return keyHints[target].filter(([key]) => !letters.includes(key))
}
function keyTarget({ startDialog, isComposing, controller, transcript }: DashboardModel): keyof typeof keyHints {
  if (startDialog) return 'startDialog'
  if (isComposing) return 'composer'
  if (controller.prompt) return 'prompt'
  return transcript ? 'session' : 'list'
}

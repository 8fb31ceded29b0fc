/** Writes entries of the audit log as CSV, for spreadsheets. Agents' text is escaped as on a terminal. */
import type { AuditEntry } from '@holdpoint/protocol'
import { effectiveAsk, summaryText } from './ask-view.ts'
import { displayText, exactText, labelText, singleLine } from './display-text.ts'
import { noticeLabel } from './notice-label.ts'

const columns = [
  ...['time', 'person or rule', 'answer', 'what', 'session', 'folder', 'agent', 'via'],
  ...['delivery', 'request', 'digest'],
] as const

/** Returns the first line, with the names of the columns. Lines have no line end; CSV ends each with CR and LF. */
export function auditCsvHead(): string {
  return csvLine(columns)
}

export function auditCsvLine(entry: AuditEntry): string {
  const time = new Date(entry.at).toISOString()
  if (entry.kind === 'notice') {
    const what = displayText(singleLine(noticeLabel(entry.event) ?? entry.event.type))
    return csvLine([time, '', '', what, ...columns.slice(4).map(() => '')])
  }
  const { resolution, value, title, cwd, driver, delivery, request, digest } = entry
  const ask = effectiveAsk(value.ask, resolution.effective?.input)
  return csvLine([
    time,
    labelText(resolution.person ?? resolution.rule ?? resolution.watcher?.name ?? resolution.by),
    resolution.answer?.kind ?? resolution.by,
    // A spreadsheet has room for the whole command.
    summaryText(ask, Number.POSITIVE_INFINITY),
    labelText(title),
    exactText(cwd),
    exactText(driver),
    resolution.via === undefined ? '' : exactText(resolution.via),
    delivery.state,
    request,
    digest,
  ])
}

function csvLine(cells: readonly string[]): string {
  return cells.map(cell => `"${spreadsheetSafe(cell).replaceAll('"', '""')}"`).join(',')
}

/**
 * Spreadsheet programs run a cell as a formula if it begins with one of these characters, so an agent's text must not begin with one. Some
 * also accept the wide forms, and in countries with a decimal comma they begin a new cell after each semicolon, even inside quotes, where the cell can have quotes of its own.
 */
function spreadsheetSafe(cell: string): string {
  return cell.replace(/(^|[;\t])(?=["'\s]{0,9}[=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1'")
}

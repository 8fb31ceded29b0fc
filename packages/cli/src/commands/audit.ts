/** `holdpoint audit list` searches the audit log. `holdpoint audit verify` checks that nobody changed the log or the rows in the database. */
import { resolve } from 'node:path'
import {
  actionLabel,
  auditCsvHead,
  auditCsvLine,
  effectiveAsk,
  noticeLabel,
  resolutionText,
  summaryText,
} from '@holdpoint/client'
import { type AuditEntry, Fault, type Input, limits, type Output } from '@holdpoint/protocol'
import type { Config } from '../config/config-schema.ts'
import type { DataFolder } from '../config/data-folder.ts'
import { parseStoreLocation } from '../gateway/open-store.ts'
import { verifyLocation } from '../gateway/verify.ts'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { out, printEmptyList } from '../output/output.ts'
import { resolutionStyle } from '../output/request.ts'
import { row, type Span, trusted, untrusted, untrustedLine } from '../output/span.ts'
import { cut } from '../output/width.ts'
import { parseDuration } from './durations.ts'
import { findSession } from './ids.ts'
import { auditTexts, inputTexts } from './texts.ts'

/** Returns the exit code: 0 if nothing was changed, 1 otherwise. */
export async function verifyAudit(config: Config, dataFolder: DataFolder, json: boolean): Promise<number> {
  const location = parseStoreLocation(config.store, dataFolder)
  const report = await verifyLocation(location, dataFolder, (checked, events) => {
    process.stderr.write(`${auditTexts.progress(checked, events)}\n`)
  })
  if (json) out.json(report)
  else if (report.ok) out.print(row(trusted('✓ ', 'yes'), trusted(auditTexts.verified(report.events, report.rows))))
  else {
    out.print(row(trusted('✗ ', 'no'), untrusted(`${report.problem}.`)))
    out.print(row(trusted('  '), untrusted(report.meaning)))
  }
  return report.ok ? 0 : 1
}

export interface AuditListOptions {
  readonly session?: string
  readonly person?: string
  readonly by?: Input<'listAudit'>['by']
  readonly answer?: Input<'listAudit'>['answer']
  readonly folder?: string
  readonly since?: string
  readonly until?: string
  readonly search?: string
  readonly notices?: boolean
  readonly limit?: string
  readonly csv?: boolean
  readonly json?: boolean
}

const countDefault = 50

/** Prints the newest matching entries, oldest first. */
export async function listAudit({ call }: GatewayClient, options: AuditListOptions): Promise<void> {
  const count = options.limit === undefined ? countDefault : Number(options.limit)
  if (!Number.isInteger(count) || count < 1) throw new Fault('bad_input', inputTexts.badCount)
  const { now, id: me } = await call('whoAmI', {})
  const filter: Input<'listAudit'> = {
    ...(options.session !== undefined && { session: (await findSession(call, options.session)).id }),
    ...(options.person !== undefined && { person: options.person }),
    ...(options.by && { by: options.by }),
    ...(options.answer && { answer: options.answer }),
    ...(options.folder !== undefined && { folder: resolve(options.folder) }),
    ...(options.since !== undefined && { from: parseTime(options.since, now, '--since') }),
    ...(options.until !== undefined && { to: parseTime(options.until, now, '--until') }),
    ...(options.search !== undefined && { q: options.search }),
    ...(options.notices && { include: 'notices' }),
  }
  const found: AuditEntry[] = []
  let next: string | null = 'end'
  while (next !== null && found.length < count) {
    const page: Output<'listAudit'> = await call('listAudit', {
      ...filter,
      before: next,
      limit: Math.min(limits.pageMax, count - found.length),
    })
    found.unshift(...page.items)
    next = page.next
  }
  // One JSON document per line, so that a long export can be read line by line.
  if (options.json) for (const entry of found) out.json(entry)
  else if (options.csv) out.printCsv([auditCsvHead(), ...found.map(auditCsvLine)])
  else if (found.length === 0) printEmptyList(auditTexts.nothingFound)
  else {
    out.printTable(
      auditTexts.columns,
      found.map(entry => tableCells(entry, me, out.columns)),
      { spare: auditTexts.spareColumns },
    )
    if (next !== null) out.printHint(auditTexts.more(count))
  }
}

/** Reads a time such as 2026-11-18, 2026-11-18T14:00 or 2h (before now). */
function parseTime(typed: string, now: number, option: string): number {
  const ago = parseDuration(typed)
  if (ago !== null) return now - ago
  // A date without a time means the start of that day in the time zone of this machine.
  const at = /^\d{4}-\d\d-\d\d/.test(typed) ? Date.parse(typed.includes('T') ? typed : `${typed}T00:00`) : Number.NaN
  if (Number.isNaN(at)) throw new Fault('bad_input', auditTexts.badTime(option, typed))
  return at
}

/** On a screen narrower than this, the answer is cut and the label of the action is left out, because the command or the question shows what the agent wanted. */
const wideFromColumns = 100
const answerMaxColumns = 30
const answerMaxShare = 0.55

function tableCells(entry: AuditEntry, me: string, columns: number | null): readonly Span[] {
  const isNarrow = columns !== null && columns < wideFromColumns
  const time = trusted(timeText(entry.at), 'quiet')
  if (entry.kind === 'notice') return [time, trusted(''), untrustedLine(noticeLabel(entry.event) ?? entry.event.type)]
  const { resolution, title } = entry
  const ask = effectiveAsk(entry.value.ask, resolution.effective?.input)
  return [
    time,
    trusted(resolutionText(resolution, me), resolutionStyle(resolution)).shortened(text =>
      isNarrow ? cut(text, Math.min(answerMaxColumns, Math.floor(columns * answerMaxShare))) : text,
    ),
    trusted(isNarrow ? summaryText(ask) : `${actionLabel(ask)}: ${summaryText(ask)}`),
    untrusted(title, 'quiet'),
  ]
}

function timeText(at: number): string {
  const date = new Date(at)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${date.toTimeString().slice(0, 5)}`
}

/** Saves all entries that match the filter as a file, newest first. It reads page by page, so that the person sees progress and can stop. */
import { auditCsvHead, auditCsvLine, editableJson } from '@holdpoint/client'
import { type AuditEntry, type Call, type Cursor, limits } from '@holdpoint/protocol'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway } from '../../gateway/gateway-context.ts'
import { useScreenActions } from '../../shortcuts/screen-actions.ts'
import type { AuditQuery } from './audit-filter.ts'
import { exportTexts } from './texts.ts'

interface Format {
  readonly label: string
  readonly extension: string
  readonly type: string
  readonly head: string
  readonly lineOf: (entry: AuditEntry) => string
}
const formats: readonly Format[] = [
  {
    ...{ label: exportTexts.csv, extension: 'csv', type: 'text/csv' },
    head: `${auditCsvHead()}\r\n`,
    lineOf: entry => `${auditCsvLine(entry)}\r\n`,
  },
  {
    ...{ label: exportTexts.ndjson, extension: 'ndjson', type: 'application/x-ndjson' },
    head: '',
    lineOf: entry => `${editableJson(entry, 0)}\n`,
  },
]

type State =
  | { readonly kind: 'idle'; readonly message: string }
  | { readonly kind: 'reading'; readonly count: number }
  | { readonly kind: 'failed'; readonly message: string }

export function AuditExport({ query }: { readonly query: AuditQuery }): ReactNode {
  const { call } = useGateway()
  const [state, setState] = useState<State>({ kind: 'idle', message: '' })
  const run = useRef<AbortController | null>(null)
  useEffect(() => () => run.current?.abort(), [])
  const start = async (format: Format) => {
    const controller = new AbortController()
    run.current = controller
    setState({ kind: 'reading', count: 0 })
    try {
      const lines: string[] = []
      for await (const entries of pagesOf(call, query, controller.signal)) {
        for (const entry of entries) lines.push(format.lineOf(entry))
        setState({ kind: 'reading', count: lines.length })
      }
      save(new Blob([format.head, ...lines], { type: format.type }), `holdpoint-audit.${format.extension}`)
      setState({ kind: 'idle', message: exportTexts.done(lines.length) })
    } catch (error) {
      const stopped = controller.signal.aborted
      setState(stopped ? { kind: 'idle', message: '' } : { kind: 'failed', message: errorMessage(error) })
    }
  }
  const isIdle = state.kind !== 'reading'
  const [csv, ndjson] = formats
  useScreenActions({
    exportCsv: isIdle && csv ? () => void start(csv) : undefined,
    exportNdjson: isIdle && ndjson ? () => void start(ndjson) : undefined,
  })
  return (
    <div className="audit-export">
      {state.kind === 'reading' ? (
        <>
          <span className="soft small" role="status">
            {exportTexts.progress(state.count)}
          </span>
          <button type="button" className="button small" onClick={() => run.current?.abort()}>
            {exportTexts.stop}
          </button>
        </>
      ) : (
        <>
          <span className={state.kind === 'failed' ? 'problem' : 'soft small'} role="status">
            {state.kind === 'failed' ? exportTexts.failed(state.message) : state.message}
          </span>
          {formats.map(format => (
            <button key={format.extension} type="button" className="button small" onClick={() => void start(format)}>
              {format.label}
            </button>
          ))}
        </>
      )}
    </div>
  )
}

/** Yields the matching entries, newest first. */
async function* pagesOf(call: Call, query: AuditQuery, signal: AbortSignal): AsyncGenerator<readonly AuditEntry[]> {
  for (let before: Cursor | 'end' | null = 'end'; before !== null; ) {
    const page: { items: AuditEntry[]; next: string | null } = await call(
      'listAudit',
      { ...query, before, limit: limits.pageMax },
      { signal },
    )
    signal.throwIfAborted()
    yield page.items.toReversed()
    before = page.next
  }
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // Chromium reads the blob when the download starts, which is after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

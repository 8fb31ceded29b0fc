/** A diff with line numbers: side by side if there is enough width and the diff has both removed and added rows, otherwise in one column. */
import { type DiffRow, diffLines, lineEndingsLabel, type TextEdit } from '@holdpoint/client'
import { type ReactNode, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { FileLine, InvisibleWarning } from './agent-text.tsx'
import { differingSpans, hunksOf, pairRows, type RowPair, type Span } from './diff-pairs.ts'
import { spokenSigns } from './texts.ts'
import './diff-view.css'

/** Minimum width of a side-by-side diff. In narrower columns, most lines of code would wrap. */
const splitMinPx = 760
/** Number of rows in a chunk. In hunks of more than `chunkedFromRows` rows, the browser skips chunks that are off screen. */
const chunkRows = 100
const chunkedFromRows = 1000

/** The part of each changed row that differs from the row beside it. */
type MarkedSpans = ReadonlyMap<DiffRow, Span>

interface ChangeViewProps {
  readonly edit: TextEdit
  /** Number of unchanged rows to show around each change. If absent, all rows are shown. */
  readonly context?: number
}

export function ChangeView({ edit, context }: ChangeViewProps): ReactNode {
  const { before, after } = edit
  const { diffs, lineEndings } = useMemo(() => diffLines([{ before, after }]), [before, after])
  const label = lineEndingsLabel(lineEndings)
  return (
    <>
      <DiffView {...{ edit, rows: diffs[0] ?? [] }} {...(context !== undefined && { context })} />
      {label !== '' && <p className="soft small">{label}</p>}
    </>
  )
}

interface DiffViewProps extends ChangeViewProps {
  readonly rows: readonly DiffRow[]
}

/** Like `ChangeView`, for rows that are already compared. */
export function DiffView({ edit: { before, after }, rows, context }: DiffViewProps): ReactNode {
  const hunks = useMemo(() => (context === undefined ? [rows] : hunksOf(rows, context)), [rows, context])
  const box = useRef<HTMLDivElement>(null)
  const wide = useIsWide(box)
  const split = wide && rows.some(row => row.sign === '-') && rows.some(row => row.sign === '+')
  return (
    <>
      <div ref={box} className={`diff agent-background ${split ? 'split' : 'unified'}`}>
        {hunks.map(hunk => (
          <Hunk key={`${hunk[0]?.before}/${hunk[0]?.after}`} rows={hunk} split={split} />
        ))}
      </div>
      <InvisibleWarning text={before + after} />
    </>
  )
}

function Hunk({ rows, split }: { readonly rows: readonly DiffRow[]; readonly split: boolean }): ReactNode {
  const pairs = useMemo(() => pairRows(rows), [rows])
  const marks = useMemo(() => markedSpans(pairs), [pairs])
  const rendered = split
    ? pairs.map(pair => <SplitRow key={`${pair.left?.before}/${pair.right?.after}`} pair={pair} marks={marks} />)
    : rows.map(row => <UnifiedRow key={`${row.before}/${row.after}`} row={row} mark={marks.get(row)} />)
  return (
    <div className="hunk">
      {chunksOf(rendered).map((chunk, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: chunks have no other key
        <div key={index} className={rows.length > chunkedFromRows ? 'diff-chunk' : ''}>
          {chunk}
        </div>
      ))}
    </div>
  )
}

function markedSpans(pairs: readonly RowPair[]): MarkedSpans {
  const marks = new Map<DiffRow, Span>()
  for (const { left, right } of pairs) {
    const spans = left && right && left !== right ? differingSpans(left.text, right.text) : null
    if (!left || !right || !spans) continue
    marks.set(left, spans[0])
    marks.set(right, spans[1])
  }
  return marks
}

const rowClasses = { ' ': 'same', '-': 'removed', '+': 'added' } as const
const visibleSigns = { ' ': '', '-': '−', '+': '+' } as const

interface CellProps {
  readonly row: DiffRow
  readonly lineNumber: number | null
  readonly mark: Span | undefined
}
function Cell({ row, lineNumber, mark }: CellProps): ReactNode {
  return (
    <>
      <span className="number" aria-hidden="true">
        {lineNumber}
      </span>
      <span className="sign" aria-hidden="true">
        {visibleSigns[row.sign]}
      </span>
      <code className="line">
        {row.sign !== ' ' && <span className="visually-hidden">{spokenSigns[row.sign]}</span>}
        <FileLine displayed={row.text} {...(mark && { mark })} />
      </code>
    </>
  )
}

function UnifiedRow({ row, mark }: { readonly row: DiffRow; readonly mark: Span | undefined }): ReactNode {
  return (
    <div className={`diff-row ${rowClasses[row.sign]}`}>
      <Cell row={row} lineNumber={row.after ?? row.before} mark={mark} />
    </div>
  )
}

function SplitRow({
  pair: { left, right },
  marks,
}: {
  readonly pair: RowPair
  readonly marks: MarkedSpans
}): ReactNode {
  return (
    <div className="diff-pair">
      <div className={`diff-row ${left ? rowClasses[left.sign] : 'none'}`}>
        {left && <Cell row={left} lineNumber={left.before} mark={marks.get(left)} />}
      </div>
      <div className={`diff-row ${right ? rowClasses[right.sign] : 'none'}`}>
        {right && <Cell row={right} lineNumber={right.after} mark={marks.get(right)} />}
      </div>
    </div>
  )
}

function chunksOf(rows: readonly ReactNode[]): readonly (readonly ReactNode[])[] {
  return Array.from({ length: Math.ceil(rows.length / chunkRows) }, (_, i) =>
    rows.slice(i * chunkRows, (i + 1) * chunkRows),
  )
}

function useIsWide(box: RefObject<HTMLElement | null>): boolean {
  const [wide, setWide] = useState(false)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setWide(element.clientWidth >= splitMinPx)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [box])
  return wide
}

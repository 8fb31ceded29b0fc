/** A diff with line numbers: side by side if there is enough width and the diff has both removed and added rows, otherwise in one column. */
import { type DiffRow, diffLines, displayRun, lineEndingsLabel, type TextEdit } from '@holdpoint/client'
import { type ReactNode, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { differingSpans, hunksOf, pairRows, type RowPair } from './diff-pairs.ts'
import { FileLine, LongFileLine } from './file-line.tsx'
import { LazyChunks } from './lazy-chunks.tsx'
import { CodeWarnings } from './text-warnings.tsx'
import { spokenSigns } from './texts.ts'
import './diff-view.css'

/** Minimum width of a side-by-side diff. In narrower columns, most lines of code would wrap. */
const splitMinPx = 760
/** A chunk ends after this many rows or characters. */
const chunkRows = 100
const chunkChars = 8000
/** Longer lines are drawn in chunks, and not compared with the line beside them. */
const lineMax = 1000

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
      <CodeWarnings text={`${before}\n${after}`} />
    </>
  )
}

function Hunk({ rows, split }: { readonly rows: readonly DiffRow[]; readonly split: boolean }): ReactNode {
  const pairs = useMemo(() => pairRows(rows), [rows])
  const partners = useMemo(() => partnersOf(pairs), [pairs])
  return (
    <div className="hunk">
      {split ? (
        <LazyChunks chunks={chunksOf(pairs, pairLength)} linesOf={chunk => chunk.length}>
          {chunk => chunk.map(pair => <SplitRow key={`${pair.left?.before}/${pair.right?.after}`} pair={pair} />)}
        </LazyChunks>
      ) : (
        <LazyChunks chunks={chunksOf(rows, rowLength)} linesOf={chunk => chunk.length}>
          {chunk =>
            chunk.map(row => <UnifiedRow key={`${row.before}/${row.after}`} row={row} beside={partners.get(row)} />)
          }
        </LazyChunks>
      )}
    </div>
  )
}

/** Returns the row beside each changed row, with which the row is compared. */
function partnersOf(pairs: readonly RowPair[]): ReadonlyMap<DiffRow, DiffRow> {
  const partners = new Map<DiffRow, DiffRow>()
  for (const { left, right } of pairs) {
    if (!left || !right || left === right) continue
    partners.set(left, right)
    partners.set(right, left)
  }
  return partners
}

const rowClasses = { ' ': 'same', '-': 'removed', '+': 'added' } as const
const visibleSigns = { ' ': '', '-': '−', '+': '+' } as const

interface CellProps {
  readonly row: DiffRow
  readonly lineNumber: number | null
  /** The row with which this row is compared. */
  readonly beside: DiffRow | null | undefined
}
function Cell({ row, lineNumber, beside }: CellProps): ReactNode {
  return (
    <>
      <span className="number" aria-hidden="true">
        {lineNumber}
      </span>
      <span className="sign" aria-hidden="true">
        {visibleSigns[row.sign]}
      </span>
      <code className="line stored-order" dir="ltr">
        {row.sign !== ' ' && <span className="visually-hidden">{spokenSigns[row.sign]}</span>}
        <CellText row={row} beside={beside} />
      </code>
    </>
  )
}

function CellText({ row, beside }: Omit<CellProps, 'lineNumber'>): ReactNode {
  if (row.text.length > lineMax) return <LongFileLine text={row.text} />
  const displayed = displayRun(row)
  const isCompared = beside && beside !== row && beside.text.length <= lineMax
  const spans = isCompared ? differingSpans(displayed, displayRun(beside)) : null
  return <FileLine displayed={displayed} {...(spans && { mark: spans[0] })} />
}

function UnifiedRow({ row, beside }: { readonly row: DiffRow; readonly beside: DiffRow | undefined }): ReactNode {
  return (
    <div className={`diff-row ${rowClasses[row.sign]}`}>
      <Cell row={row} lineNumber={row.after ?? row.before} beside={beside} />
    </div>
  )
}

function SplitRow({ pair: { left, right } }: { readonly pair: RowPair }): ReactNode {
  return (
    <div className="diff-pair">
      <div className={`diff-row ${left ? rowClasses[left.sign] : 'none'}`}>
        {left && <Cell row={left} lineNumber={left.before} beside={right} />}
      </div>
      <div className={`diff-row ${right ? rowClasses[right.sign] : 'none'}`}>
        {right && <Cell row={right} lineNumber={right.after} beside={left} />}
      </div>
    </div>
  )
}

function chunksOf<T>(rows: readonly T[], lengthOf: (row: T) => number): readonly (readonly T[])[] {
  const chunks: T[][] = []
  let [chunk, chars]: [T[], number] = [[], 0]
  for (const row of rows) {
    chunk.push(row)
    chars += lengthOf(row)
    if (chunk.length < chunkRows && chars < chunkChars) continue
    chunks.push(chunk)
    chunk = []
    chars = 0
  }
  return chunk.length > 0 ? [...chunks, chunk] : chunks
}

function rowLength({ text }: DiffRow): number {
  return Math.min(text.length, lineMax)
}

function pairLength({ left, right }: RowPair): number {
  return (left ? rowLength(left) : 0) + (right ? rowLength(right) : 0)
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

/** A diff with line numbers: side by side if there is enough width and the diff has both removed and added rows, otherwise in one column. */
import { type DiffRow, diffLines, displayRun, lineCount, lineEndingsLabel, type TextEdit } from '@holdpoint/client'
import { type ReactNode, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Code } from './code.tsx'
import { type RowColors, rowColors } from './diff-colors.ts'
import { differingSpans, hunksOf, pairRows, type RowPair } from './diff-pairs.ts'
import { FileLine, LongFileLine } from './file-line.tsx'
import { chunksOf, LazyChunks } from './lazy-chunks.tsx'
import { CodeWarnings } from './text-warnings.tsx'
import { diffTexts, spokenSigns } from './texts.ts'
import './diff-view.css'

/** Minimum width of a side-by-side diff. In narrower columns, most lines of code would wrap. */
const splitMinPx = 760
const chunkSize = { rowsMax: 60, charsMax: 8000 } as const
/** Longer lines are drawn in chunks, and not compared with the line beside them. */
const lineMax = 1000

interface ChangeViewProps {
  readonly edit: TextEdit
  /** Number of unchanged rows to show around each change. If absent, all rows are shown. */
  readonly context?: number
  /** The language of the file, as `languageOf` returns it. Without it, the rows have no colors. */
  readonly lang?: string | undefined
}

export function ChangeView(props: ChangeViewProps): ReactNode {
  return isTooLongToCompare([props.edit]) ? <WholeTexts edit={props.edit} /> : <ComparedTexts {...props} />
}

function ComparedTexts({ edit, context, lang }: ChangeViewProps): ReactNode {
  const { before, after } = edit
  const { diffs, lineEndings } = useMemo(() => diffLines([{ before, after }]), [before, after])
  const label = lineEndingsLabel(lineEndings)
  return (
    <>
      <DiffView {...{ edit, lang, rows: diffs[0] ?? [] }} {...(context !== undefined && { context })} />
      {label !== '' && <p className="soft small">{label}</p>}
    </>
  )
}

interface DiffViewProps extends ChangeViewProps {
  readonly rows: readonly DiffRow[]
}

/** Shows a change that is too long for a diff as its two texts, because even rows that are not drawn take time. */
export function WholeTexts({ edit: { before, after } }: { readonly edit: TextEdit }): ReactNode {
  return (
    <>
      {before !== '' && (
        <>
          <span className="soft small">{diffTexts.before}</span>
          <Code text={before} />
          <span className="soft small">{diffTexts.after}</span>
        </>
      )}
      <Code text={after} />
    </>
  )
}

const comparedLinesMax = 50_000

export function isTooLongToCompare(edits: readonly TextEdit[]): boolean {
  return edits.reduce((sum, { before, after }) => sum + lineCount(before) + lineCount(after), 0) > comparedLinesMax
}

/** Like `ChangeView`, for rows that are already compared. */
export function DiffView({ edit: { before, after }, rows, context, lang }: DiffViewProps): ReactNode {
  const hunks = useMemo(() => (context === undefined ? [rows] : hunksOf(rows, context)), [rows, context])
  const box = useRef<HTMLDivElement>(null)
  const wide = useIsWide(box)
  const hasBoth = useMemo(() => rows.some(row => row.sign === '-') && rows.some(row => row.sign === '+'), [rows])
  const split = wide && hasBoth
  return (
    <>
      <div ref={box} className={`diff agent-background ${split ? 'split' : 'unified'}`}>
        {hunks.map(hunk => (
          <Hunk key={`${hunk[0]?.before}/${hunk[0]?.after}`} rows={hunk} {...{ split, hasBoth, lang }} />
        ))}
      </div>
      <CodeWarnings text={`${before}\n${after}`} />
    </>
  )
}

interface HunkProps {
  readonly rows: readonly DiffRow[]
  readonly split: boolean
  /** Whether the diff has both removed and added rows. Otherwise no row is compared with another. */
  readonly hasBoth: boolean
  readonly lang: string | undefined
}

function Hunk({ rows, split, hasBoth, lang }: HunkProps): ReactNode {
  const pairs = useMemo(() => (hasBoth ? pairRows(rows) : []), [rows, hasBoth])
  const partners = useMemo(
    () => (split || rows.length > comparedMax ? noPartners : partnersOf(pairs)),
    [pairs, rows, split],
  )
  const pairChunks = useMemo(() => (split ? chunksOf(pairs, pairLength, chunkSize) : []), [pairs, split])
  const rowChunks = useMemo(() => (split ? [] : chunksOf(rows, rowLength, chunkSize)), [rows, split])
  return (
    <div className="hunk">
      {split ? (
        <LazyChunks chunks={pairChunks} linesOf={chunk => chunk.length} textOf={pairsText}>
          {chunk => <SplitRows pairs={chunk} lang={lang} />}
        </LazyChunks>
      ) : (
        <LazyChunks chunks={rowChunks} linesOf={chunk => chunk.length} textOf={rowsText}>
          {chunk => <UnifiedRows rows={chunk} partners={partners} lang={lang} />}
        </LazyChunks>
      )}
    </div>
  )
}

/** In a longer diff in one column, the differing parts of two rows are not marked. */
const comparedMax = 20_000
const noPartners: ReadonlyMap<DiffRow, DiffRow> = new Map()

function pairsText(pairs: readonly RowPair[]): string {
  return rowsText(pairs.flatMap(rowsOf))
}

function rowsText(rows: readonly DiffRow[]): string {
  return rows.map(row => displayRun(row)).join('\n')
}

/** Returns the row with which each changed row of a diff in one column is compared. */
export function comparedRows(rows: readonly DiffRow[]): ReadonlyMap<DiffRow, DiffRow> {
  return rows.length > comparedMax ? noPartners : partnersOf(pairRows(rows))
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
export function diffRowClass({ sign }: DiffRow): string {
  return rowClasses[sign]
}
const visibleSigns = { ' ': '', '-': '−', '+': '+' } as const

interface CellProps {
  readonly row: DiffRow
  readonly lineNumber: number | null
  /** The row with which this row is compared. */
  readonly beside: DiffRow | null | undefined
  readonly colors?: RowColors | undefined
}
/** The line number, the sign and the text of a row. */
export function DiffCell({ row, lineNumber, beside, colors }: CellProps): ReactNode {
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
        <CellText {...{ row, beside, colors }} />
      </code>
    </>
  )
}

function CellText({ row, beside, colors }: Omit<CellProps, 'lineNumber'>): ReactNode {
  if (row.text.length > lineMax) return <LongFileLine text={row.text} />
  const displayed = displayRun(row)
  const isCompared = beside && beside !== row && beside.text.length <= lineMax
  const spans = isCompared ? differingSpans(displayed, displayRun(beside)) : null
  return <FileLine displayed={displayed} colors={colors?.get(row)} {...(spans && { mark: spans[0] })} />
}

interface UnifiedRowsProps {
  readonly rows: readonly DiffRow[]
  readonly partners: ReadonlyMap<DiffRow, DiffRow>
  readonly lang: string | undefined
}

function UnifiedRows({ rows, partners, lang }: UnifiedRowsProps): ReactNode {
  const colors = useMemo(() => rowColors(rows, lang, lineMax), [rows, lang])
  return rows.map(row => (
    <div key={`${row.before}/${row.after}`} className={`diff-row ${diffRowClass(row)}`}>
      <DiffCell row={row} lineNumber={row.after ?? row.before} beside={partners.get(row)} colors={colors} />
    </div>
  ))
}

interface SplitRowsProps {
  readonly pairs: readonly RowPair[]
  readonly lang: string | undefined
}

function SplitRows({ pairs, lang }: SplitRowsProps): ReactNode {
  const colors = useMemo(() => rowColors(pairs.flatMap(rowsOf), lang, lineMax), [pairs, lang])
  return pairs.map(({ left, right }) => (
    <div key={`${left?.before}/${right?.after}`} className="diff-pair">
      <div className={`diff-row ${left ? diffRowClass(left) : 'none'}`}>
        {left && <DiffCell row={left} lineNumber={left.before} beside={right} colors={colors} />}
      </div>
      <div className={`diff-row ${right ? diffRowClass(right) : 'none'}`}>
        {right && <DiffCell row={right} lineNumber={right.after} beside={left} colors={colors} />}
      </div>
    </div>
  ))
}

/** Returns the rows of a pair. An unchanged row is on both sides. */
function rowsOf({ left, right }: RowPair): readonly DiffRow[] {
  return [left, right === left ? null : right].filter(row => row !== null)
}

export function rowLength({ text }: DiffRow): number {
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

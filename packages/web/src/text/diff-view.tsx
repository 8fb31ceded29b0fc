/** A change of a file, whole: what goes, what comes, with line numbers; side by side where there is room, one under the other where there is not. */
import { type DiffRow, diffLines, lineEndingsLabel, type TextEdit } from '@holdpoint/client'
import { type ReactNode, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { InvisibleWarning, Line } from './agent-text.tsx'
import { differingSpans, hunksOf, type Pair, pairRows, type Span } from './diff-pairs.ts'
import './diff-view.css'

/** Narrower than this, two columns of code are two columns of fragments. */
const splitMinPx = 760
/** So many rows at a time are left undrawn while they are off the screen, where there are many. */
const chunkRows = 100
const manyRows = 1000

/** Where each changed line differs from the one that it stands for. */
type Marks = ReadonlyMap<DiffRow, Span>

interface ChangeViewProps {
  readonly part: TextEdit
  /** Where the whole is to be seen elsewhere: so many lines around each change. */
  readonly context?: number
}

export function ChangeView({ part, context }: ChangeViewProps): ReactNode {
  const { before, after } = part
  const { diffs, lineEndings } = useMemo(() => diffLines([{ before, after }]), [before, after])
  const about = lineEndingsLabel(lineEndings)
  return (
    <>
      <DiffView {...{ part, rows: diffs[0] ?? [] }} {...(context !== undefined && { context })} />
      {about !== '' && <p className="soft small">{about}</p>}
    </>
  )
}

interface DiffViewProps extends ChangeViewProps {
  readonly rows: readonly DiffRow[]
}

/** The same, compared already. */
export function DiffView({ part: { before, after }, rows, context }: DiffViewProps): ReactNode {
  const hunks = useMemo(() => (context === undefined ? [rows] : hunksOf(rows, context)), [rows, context])
  const box = useRef<HTMLDivElement>(null)
  const wide = useWide(box)
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
  const marks = useMemo(() => marksOf(pairs), [pairs])
  const drawn = split
    ? pairs.map(pair => <SplitRow key={`${pair.left?.before}/${pair.right?.after}`} pair={pair} marks={marks} />)
    : rows.map(row => <UnifiedRow key={`${row.before}/${row.after}`} row={row} mark={marks.get(row)} />)
  return (
    <div className="hunk">
      {chunksOf(drawn).map((chunk, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: so many rows at a time, nothing else
        <div key={index} className={rows.length > manyRows ? 'diff-chunk' : ''}>
          {chunk}
        </div>
      ))}
    </div>
  )
}

function marksOf(pairs: readonly Pair[]): Marks {
  const marks = new Map<DiffRow, Span>()
  for (const { left, right } of pairs) {
    const spans = left && right && left !== right ? differingSpans(left.text, right.text) : null
    if (!left || !right || !spans) continue
    marks.set(left, spans[0])
    marks.set(right, spans[1])
  }
  return marks
}

const kinds = { ' ': 'same', '-': 'removed', '+': 'added' } as const
const spoken = { ' ': '', '-': 'removed: ', '+': 'added: ' } as const
const signs = { ' ': '', '-': '−', '+': '+' } as const

interface CellProps {
  readonly row: DiffRow
  readonly at: number | null
  readonly mark: Span | undefined
}
function Cell({ row, at, mark }: CellProps): ReactNode {
  return (
    <>
      <span className="number" aria-hidden="true">
        {at}
      </span>
      <span className="sign" aria-hidden="true">
        {signs[row.sign]}
      </span>
      <code className="line">
        {row.sign !== ' ' && <span className="visually-hidden">{spoken[row.sign]}</span>}
        <Line shown={row.text} {...(mark && { mark })} />
      </code>
    </>
  )
}

function UnifiedRow({ row, mark }: { readonly row: DiffRow; readonly mark: Span | undefined }): ReactNode {
  return (
    <div className={`diff-row ${kinds[row.sign]}`}>
      <Cell row={row} at={row.after ?? row.before} mark={mark} />
    </div>
  )
}

function SplitRow({ pair: { left, right }, marks }: { readonly pair: Pair; readonly marks: Marks }): ReactNode {
  return (
    <div className="diff-pair">
      <div className={`diff-row ${left ? kinds[left.sign] : 'none'}`}>
        {left && <Cell row={left} at={left.before} mark={marks.get(left)} />}
      </div>
      <div className={`diff-row ${right ? kinds[right.sign] : 'none'}`}>
        {right && <Cell row={right} at={right.after} mark={marks.get(right)} />}
      </div>
    </div>
  )
}

function chunksOf(rows: readonly ReactNode[]): readonly (readonly ReactNode[])[] {
  return Array.from({ length: Math.ceil(rows.length / chunkRows) }, (_, i) =>
    rows.slice(i * chunkRows, (i + 1) * chunkRows),
  )
}

function useWide(box: RefObject<HTMLElement | null>): boolean {
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

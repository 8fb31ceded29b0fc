/** Draws a long text chunk by chunk: a chunk is escaped and drawn only once it is near the visible part of the page, so that no text can freeze the page. */
import { type ReactNode, useState } from 'react'
import { useChunkBox } from './chunk-queue.ts'
import './lazy-chunks.css'

/** The first chunks are drawn at once, so that a text appears without a gap. */
const eagerChunks = 2
/** More chunks than this are grouped, because even boxes without content take time. */
const groupMax = 24

export interface LazyChunksProps<T> {
  readonly chunks: readonly T[]
  readonly className?: string
  /** Returns the number of lines of a chunk, to reserve its space. */
  readonly linesOf: (chunk: T) => number
  /** Returns the text of a chunk as it is displayed, so that the browser finds it before it is drawn. */
  readonly textOf: (chunk: T) => string
  readonly children: (chunk: T) => ReactNode
}

export function LazyChunks<T>({ chunks, ...props }: LazyChunksProps<T>): ReactNode {
  const { className = '', linesOf, textOf, children } = props
  if (chunks.length === 1) return children(chunks[0] as T) // the list has one element
  if (chunks.length > groupMax)
    return groupsOf(chunks).map((group, index) => (
      <LazyChunk
        // biome-ignore lint/suspicious/noArrayIndexKey: groups have no other key, and only the last one grows
        key={index}
        eager={index === 0}
        className={className}
        lines={group.reduce((sum, chunk) => sum + linesOf(chunk), 0)}
        texts={group.map(chunk => () => textOf(chunk))}
      >
        {() => <LazyChunks chunks={group} {...props} />}
      </LazyChunk>
    ))
  return chunks.map((chunk, index) => (
    <LazyChunk
      // biome-ignore lint/suspicious/noArrayIndexKey: chunks have no other key, and only the last one grows
      key={index}
      eager={index < eagerChunks}
      className={className}
      lines={linesOf(chunk)}
      texts={[() => textOf(chunk)]}
    >
      {() => children(chunk)}
    </LazyChunk>
  ))
}

/** Splits chunks into at most `groupMax` groups of about the same size. */
function groupsOf<T>(chunks: readonly T[]): readonly (readonly T[])[] {
  const size = Math.max(groupMax, Math.ceil(chunks.length / groupMax))
  return Array.from({ length: Math.ceil(chunks.length / size) }, (_, n) => chunks.slice(n * size, (n + 1) * size))
}

/** About this many characters fit on a line. */
const lineChars = 100

/** Estimates how many lines a chunk of text takes. */
export function textLines(chunk: string): number {
  return Math.max(chunk.split('\n').length, Math.ceil(chunk.length / lineChars))
}

interface LazyChunkProps {
  readonly eager: boolean
  readonly className: string
  readonly lines: number
  /** The parts of the text as it is displayed. */
  readonly texts: readonly (() => string)[]
  readonly children: () => ReactNode
}

function LazyChunk({ eager, className, lines, texts, children }: LazyChunkProps): ReactNode {
  const [drawn, setDrawn] = useState(eager)
  const { box, hiddenText } = useChunkBox(drawn, texts, () => setDrawn(true))
  return (
    <div
      ref={box}
      className={`lazy-chunk ${className}`}
      style={drawn ? undefined : { height: `${lines}lh` }}
      aria-busy={!drawn || undefined}
    >
      {drawn ? children() : hiddenText !== null && <span ref={hideUntilFound}>{hiddenText}</span>}
    </div>
  )
}

/** Hides an element, but lets the browser's search find its text. React would set the attribute to an empty value. */
function hideUntilFound(element: HTMLElement | null): void {
  element?.setAttribute('hidden', 'until-found')
}

/** Splits rows into chunks of at most `rowsMax` rows and about `charsMax` characters. */
export function chunksOf<T>(
  rows: readonly T[],
  lengthOf: (row: T) => number,
  { rowsMax, charsMax }: { readonly rowsMax: number; readonly charsMax: number },
): readonly (readonly T[])[] {
  const chunks: T[][] = []
  let [chunk, chars]: [T[], number] = [[], 0]
  for (const row of rows) {
    chunk.push(row)
    chars += lengthOf(row)
    if (chunk.length < rowsMax && chars < charsMax) continue
    chunks.push(chunk)
    chunk = []
    chars = 0
  }
  if (chunk.length > 0) chunks.push(chunk)
  return chunks
}

/** Draws a long text chunk by chunk: a chunk is escaped and drawn only once it is near the visible part of the page, so that no text can freeze the page. */
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import './lazy-chunks.css'

/** A chunk is drawn when it is this close to the visible part. */
const nearPx = 1200
/** The first chunks are drawn at once, so that a text appears without a gap. */
const eagerChunks = 2

export interface LazyChunksProps<T> {
  readonly chunks: readonly T[]
  readonly className?: string
  /** Returns the number of lines of a chunk, to reserve its space. */
  readonly linesOf?: (chunk: T) => number
  readonly children: (chunk: T, index: number) => ReactNode
}

export function LazyChunks<T>({ chunks, className = '', linesOf, children }: LazyChunksProps<T>): ReactNode {
  if (chunks.length === 1) return children(chunks[0] as T, 0) // the list has one element
  return chunks.map((chunk, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: chunks have no other key, and only the last one grows
    <LazyChunk key={index} eager={index < eagerChunks} className={className} lines={linesOf?.(chunk) ?? linesIn(chunk)}>
      {() => children(chunk, index)}
    </LazyChunk>
  ))
}

function linesIn(chunk: unknown): number {
  return typeof chunk === 'string' ? chunk.split('\n').length : 1
}

interface LazyChunkProps {
  readonly eager: boolean
  readonly className: string
  readonly lines: number
  readonly children: () => ReactNode
}

function LazyChunk({ eager, className, lines, children }: LazyChunkProps): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const [drawn, setDrawn] = useState(eager)
  useIsNear(box, drawn, () => setDrawn(true))
  return (
    <div
      ref={box}
      className={`lazy-chunk ${className}`}
      style={drawn ? undefined : { height: `${lines}lh` }}
      aria-busy={!drawn || undefined}
    >
      {drawn && children()}
    </div>
  )
}

const callbacks = new WeakMap<Element, () => void>()
const margin = `${nearPx}px 0px`
let observer: IntersectionObserver | null = null

/** Returns the observer of all chunks. `scrollMargin` extends the boxes that scroll inside the page, where browsers support it. */
function sharedObserver(): IntersectionObserver {
  const options: IntersectionObserverInit & { readonly scrollMargin: string } = {
    rootMargin: margin,
    scrollMargin: margin,
  }
  observer ??= new IntersectionObserver(entries => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) callbacks.get(target)?.()
  }, options)
  return observer
}

function useIsNear(box: RefObject<HTMLElement | null>, isDone: boolean, onNear: () => void): void {
  const latest = useRef(onNear)
  useEffect(() => {
    latest.current = onNear
  })
  useEffect(() => {
    const element = box.current
    if (!element || isDone) return
    callbacks.set(element, () => latest.current())
    sharedObserver().observe(element)
    return () => sharedObserver().unobserve(element)
  }, [box, isDone])
}

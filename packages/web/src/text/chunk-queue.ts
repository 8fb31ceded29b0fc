/** Decides when the chunks of long texts are drawn: a few at a time, as they come near the visible part, so that the page can handle keys in between. */
import { type RefObject, useEffect, useRef, useState } from 'react'

/** A chunk is drawn when it is this close to the visible part. */
const nearPx = 1200
/** The number of chunks that are drawn before the browser may handle other events. */
const drawnAtOnce = 2

const drawFunctions = new WeakMap<Element, () => void>()
/** The chunks that are near the visible part and not drawn yet. A chunk above may push them away again. */
const near = new Set<Element>()
let observer: IntersectionObserver | null = null
let isScheduled = false

/** Returns the observer of all chunks. `scrollMargin` extends the boxes that scroll inside the page, where browsers support it. */
function sharedObserver(): IntersectionObserver {
  const margin = `${nearPx}px 0px`
  const options: IntersectionObserverInit & { readonly scrollMargin: string } = {
    rootMargin: margin,
    scrollMargin: margin,
  }
  observer ??= new IntersectionObserver(entries => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) near.add(target)
      else near.delete(target)
    schedule()
  }, options)
  return observer
}

/** Draws the next chunks after the next frame, when the browser has reported which ones are still near. */
function schedule(): void {
  if (isScheduled || near.size === 0) return
  isScheduled = true
  const drawNext = () => {
    isScheduled = false
    for (const element of [...near].slice(0, drawnAtOnce)) {
      near.delete(element)
      drawFunctions.get(element)?.()
    }
    schedule()
  }
  // A hidden page has no frames.
  if (document.visibilityState === 'visible') requestAnimationFrame(() => setTimeout(drawNext))
  else setTimeout(drawNext)
}

export interface ChunkBox {
  readonly box: RefObject<HTMLDivElement | null>
  /** The text of the box until it is drawn, so that the browser's search finds it; null until it is escaped. */
  readonly hiddenText: string | null
}

/** Calls `draw` when the box comes near the visible part, or when the browser's search finds its text. */
export function useChunkBox(isDrawn: boolean, texts: readonly (() => string)[], draw: () => void): ChunkBox {
  const box = useRef<HTMLDivElement>(null)
  const [hiddenText, setHiddenText] = useState<string | null>(null)
  const latest = useRef({ texts, draw })
  useEffect(() => {
    latest.current = { texts, draw }
  })
  useEffect(() => {
    const element = box.current
    if (!element || isDrawn) return
    drawFunctions.set(element, () => latest.current.draw())
    sharedObserver().observe(element)
    const cancelText = joinWhenIdle(latest.current.texts, setHiddenText)
    // The browser scrolls to the text that it has found. The text must not change before that.
    const onFound = () => setTimeout(() => drawFunctions.get(element)?.(), foundMs)
    element.addEventListener('beforematch', onFound)
    return () => {
      sharedObserver().unobserve(element)
      near.delete(element)
      cancelText()
      element.removeEventListener('beforematch', onFound)
    }
  }, [isDrawn])
  return { box, hiddenText }
}
const foundMs = 200

/** Escapes the parts of a text one at a time, whenever the page has nothing else to do. Returns a function that stops it. */
function joinWhenIdle(parts: readonly (() => string)[], onText: (text: string) => void): () => void {
  const done: string[] = []
  const next = () => {
    done.push(parts[done.length]?.() ?? '')
    if (done.length < parts.length) idleTasks.add(next)
    else onText(done.join('\n'))
  }
  idleTasks.add(next)
  scheduleIdle()
  return () => idleTasks.delete(next)
}

const idleTasks = new Set<() => void>()
let isIdleScheduled = false

function scheduleIdle(): void {
  if (isIdleScheduled || idleTasks.size === 0) return
  isIdleScheduled = true
  const run = () => {
    isIdleScheduled = false
    const [task] = idleTasks
    if (task) idleTasks.delete(task)
    task?.()
    scheduleIdle()
  }
  // Safari has no requestIdleCallback.
  if (typeof requestIdleCallback === 'function') requestIdleCallback(run)
  else setTimeout(run, idlePauseMs)
}
const idlePauseMs = 50

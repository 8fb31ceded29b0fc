/** Keeps a growing list scrolled to its end, until the person scrolls away. */
import { type RefObject, useCallback, useRef, useState } from 'react'

/** The list counts as scrolled to its end if the end is within this distance. */
const nearPx = 32

export interface StickToEnd {
  readonly atEnd: boolean
  /** Call after the size of the content has changed. */
  readonly keepAtEnd: () => void
  /** Call on every scroll event of the list. */
  readonly onScroll: () => void
  readonly scrollToEnd: () => void
  /** Call before the list is scrolled to another place on request of the person. */
  readonly leaveEnd: () => void
}

export function useStickToEnd(scroller: RefObject<HTMLElement | null>): StickToEnd {
  const stuck = useRef(true)
  const last = useRef({ top: 0, height: 0 })
  const [atEnd, setAtEnd] = useState(true)
  const keepAtEnd = useCallback(() => {
    const element = scroller.current
    if (element && stuck.current) element.scrollTop = element.scrollHeight
  }, [scroller])
  const onScroll = useCallback(() => {
    const element = scroller.current
    if (!element) return
    const { scrollTop: top, scrollHeight: height, clientHeight } = element
    if (height - top - clientHeight <= nearPx) stuck.current = true
    // The position moved up but the content did not shrink, so the person scrolled up.
    else if (top < last.current.top - 1 && height >= last.current.height) stuck.current = false
    last.current = { top, height }
    setAtEnd(stuck.current)
  }, [scroller])
  const scrollToEnd = useCallback(() => {
    stuck.current = true
    setAtEnd(true)
    keepAtEnd()
  }, [keepAtEnd])
  const leaveEnd = useCallback(() => {
    const before = scroller.current?.scrollTop
    stuck.current = false
    // If the place is visible already, nothing scrolls, and the list still shows its end.
    afterTwoFrames(() => {
      if (scroller.current?.scrollTop === before) onScroll()
    })
  }, [scroller, onScroll])
  return { atEnd, keepAtEnd, onScroll, scrollToEnd, leaveEnd }
}

/** Runs a function after two frames. If the list has to scroll, it has scrolled by then. */
function afterTwoFrames(run: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(run))
}

/** Staying at the end of what grows, for as long as one has not scrolled away from it. */
import { type RefObject, useCallback, useRef, useState } from 'react'

/** So close to the end one is at the end. */
const nearPx = 32

export interface StickToEnd {
  readonly atEnd: boolean
  /** To be called when something has changed its size. */
  readonly pin: () => void
  /** To be called when something has scrolled. */
  readonly follow: () => void
  readonly toEnd: () => void
}

export function useStickToEnd(scroller: RefObject<HTMLElement | null>): StickToEnd {
  const stuck = useRef(true)
  const last = useRef({ top: 0, height: 0 })
  const [atEnd, setAtEnd] = useState(true)
  const pin = useCallback(() => {
    const box = scroller.current
    if (box && stuck.current) box.scrollTop = box.scrollHeight
  }, [scroller])
  const follow = useCallback(() => {
    const box = scroller.current
    if (!box) return
    const { scrollTop: top, scrollHeight: height, clientHeight } = box
    if (height - top - clientHeight <= nearPx) stuck.current = true
    // Upwards by a hand: where content that shrinks pulls the place along, its height shrinks too.
    else if (top < last.current.top - 1 && height >= last.current.height) stuck.current = false
    last.current = { top, height }
    setAtEnd(stuck.current)
  }, [scroller])
  const toEnd = useCallback(() => {
    stuck.current = true
    setAtEnd(true)
    pin()
  }, [pin])
  return { atEnd, pin, follow, toEnd }
}

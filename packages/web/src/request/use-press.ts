/** Finds out when a click or tap began, and whether its button has moved or changed since (G12). */
import { type MouseEvent, type PointerEvent, type RefObject, useEffect, useRef } from 'react'
import { keyRuns } from '../shortcuts/key-runs.ts'
import type { Press } from '../shortcuts/press.ts'
import { cooldownMs } from '../ui/input-cooldown.ts'
import { movedAt, watchMovement } from '../ui/movement.ts'

export interface PressTracking {
  readonly ref: RefObject<HTMLButtonElement | null>
  readonly onPointerDown: (event: PointerEvent) => void
  /** Returns the press that ends with this click. */
  readonly pressOf: (event: MouseEvent) => Press
  /** Returns the press that began with the last `onPointerDown` and is complete now. */
  readonly heldPress: () => Press
  /** Returns whether the last press began with a finger or a pen. */
  readonly isTouch: () => boolean
}

interface Began {
  readonly at: number
  readonly left: number
  readonly top: number
  readonly content: string
  readonly isTouch: boolean
}

/** If a key was pressed within this time, the key caused a click without a pointer. Otherwise assistive technology caused the click. */
const keyClickMs = 1000
/** A button may move this far without counting as moved: hands tremble, and a pinch-zoomed page has fractional positions. */
const toleranceMaxPx = 4
const stale: Press = { at: Number.NEGATIVE_INFINITY }

/** `content` describes what the button sends. */
export function usePress(content: string): PressTracking {
  const ref = useRef<HTMLButtonElement>(null)
  const began = useRef<Began | null>(null)
  const latest = useRef(content)
  useEffect(() => {
    latest.current = content
  })
  useEffect(() => (ref.current ? watchMovement(ref.current) : undefined), [])
  const heldPress = () => {
    const [button, start] = [ref.current, began.current]
    if (!button || !start) return { at: performance.now() }
    const { left, top } = button.getBoundingClientRect()
    const moved = Math.abs(left - start.left) > toleranceMaxPx || Math.abs(top - start.top) > toleranceMaxPx
    const movedBefore = start.at - movedAt(button) < cooldownMs
    return moved || movedBefore || latest.current !== start.content ? stale : { at: start.at }
  }
  return {
    ref,
    onPointerDown: ({ currentTarget, timeStamp: at, pointerType }) => {
      if (ref.current) movedAt(ref.current)
      const { left, top } = currentTarget.getBoundingClientRect()
      began.current = { at, left, top, content: latest.current, isTouch: pointerType !== 'mouse' }
    },
    pressOf: ({ detail, timeStamp }) => {
      if (detail > 0) return heldPress()
      const isByKey = timeStamp - keyRuns.pressedAt < keyClickMs
      return isByKey ? { at: keyRuns.pressedAt, isTyped: !keyRuns.maySend } : { at: timeStamp }
    },
    heldPress,
    isTouch: () => began.current?.isTouch ?? false,
  }
}

/** Lets a person hold down a button with a finger or a pen. The hold ends without effect as soon as anything else happens: the finger moves, a second finger touches the screen, the page scrolls, or the person leaves it. */
import { type PointerEvent as ReactPointerEvent, useCallback, useEffect, useRef, useState } from 'react'

/** How long people hold the button. `answer-button.css` draws the same time. */
const holdMs = 600
/** A finger that holds still may move this far. */
const movementMaxPx = 10

export interface Hold {
  readonly holding: boolean
  /** Call when a finger touches the button. */
  readonly start: (event: ReactPointerEvent) => void
}

/** `content` describes what the button sends. If it changes, the hold ends. */
export function useHold(content: string, onComplete: () => void): Hold {
  const [holding, setHolding] = useState(false)
  const current = useRef<AbortController | null>(null)
  const latest = useRef(onComplete)
  useEffect(() => {
    latest.current = onComplete
  })
  const stop = useCallback(() => {
    current.current?.abort()
    current.current = null
    setHolding(false)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the content ends the hold
  useEffect(() => stop, [stop, content])
  const start = useCallback(
    (event: ReactPointerEvent) => {
      stop()
      if (!event.isPrimary) return
      const hold = new AbortController()
      current.current = hold
      setHolding(true)
      const timer = setTimeout(() => {
        stop()
        latest.current()
      }, holdMs)
      hold.signal.addEventListener('abort', () => clearTimeout(timer))
      stopOnOtherInput(event, stop, hold.signal)
    },
    [stop],
  )
  return { holding, start }
}

function stopOnOtherInput(
  { pointerId, clientX, clientY, currentTarget: button }: ReactPointerEvent,
  stop: () => void,
  signal: AbortSignal,
): void {
  const options = { signal, capture: true }
  const onMove = (event: PointerEvent) => {
    // The button gets the events of a finger until it is lifted, even if the finger has left the button.
    const distance = Math.hypot(event.clientX - clientX, event.clientY - clientY)
    if (event.pointerId !== pointerId || distance > movementMaxPx) stop()
  }
  // The touch that starts the hold arrives here too, and must not end it.
  const onDown = (event: PointerEvent) => event.pointerId !== pointerId && stop()
  const onScroll = ({ target }: Event) => target instanceof Node && target.contains(button) && stop()
  addEventListener('pointermove', onMove, options)
  addEventListener('pointerdown', onDown, options)
  addEventListener('scroll', onScroll, options)
  for (const type of ['pointerup', 'pointercancel', 'keydown']) addEventListener(type, stop, options)
  button.addEventListener('pointerleave', stop, { signal })
  // This listener does not use `capture`, because a field that loses the focus has a blur event too.
  addEventListener('blur', stop, { signal })
  document.addEventListener('visibilitychange', stop, { signal })
}

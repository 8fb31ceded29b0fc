/** Actions of the current screen that the command palette offers too. A screen registers what its own buttons do, so that both do the same, with the same confirmations. */
import { useEffect, useRef } from 'react'

export type ScreenAction =
  | 'interrupt'
  | 'end'
  | 'rename'
  | 'reviewSession'
  | 'newRule'
  | 'deviceLink'
  | 'exportCsv'
  | 'exportNdjson'
type Handlers = { readonly [name in ScreenAction]?: (() => void) | undefined }

const registered: { readonly current: Handlers }[] = []
/** An action of a screen that is about to open. */
let wanted: { readonly name: ScreenAction; readonly until: number } | null = null
const openingMaxMs = 5000

/** Registers what the buttons of the calling component do while it is mounted. An action without a handler is not offered. */
export function useScreenActions(handlers: Handlers): void {
  const latest = useRef(handlers)
  useEffect(() => {
    latest.current = handlers
    const handler = wanted && handlers[wanted.name]
    if (!wanted || !handler) return
    const isLate = performance.now() > wanted.until
    wanted = null
    if (!isLate) handler()
  })
  useEffect(() => {
    registered.unshift(latest)
    return () => {
      registered.splice(registered.indexOf(latest), 1)
    }
  }, [])
}

export function hasScreenAction(name: ScreenAction): boolean {
  return registered.some(({ current }) => current[name])
}

/** Runs an action of the current screen, or of the screen that is about to open. */
export function runScreenAction(name: ScreenAction): void {
  const handler = registered.find(({ current }) => current[name])?.current[name]
  wanted = handler ? null : { name, until: performance.now() + openingMaxMs }
  handler?.()
}

/** A banner shown while the gateway is unreachable, and briefly after the page reconnects. The banner overlays the page, so the layout does not move. */
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { startCooldown } from '../../ui/input-cooldown.ts'
import { connectionTexts } from './texts.ts'
import './connection-banner.css'

const reconnectedShownMs = 3000

export type ConnectionState = 'connected' | 'reconnecting' | 'reconnected'

/** Returns `reconnecting` as soon as the connection is lost, and `reconnected` for a few seconds after it is restored. */
export function useConnectionState(): ConnectionState {
  const status = useInboxPart(snapshot => snapshot.status)
  const [state, setState] = useState<ConnectionState>('connected')
  const lost = useRef(false)
  useEffect(() => {
    if (status === 'reconnecting') {
      lost.current = true
      setState('reconnecting')
      return
    }
    if (status !== 'live' || !lost.current) return
    lost.current = false
    startCooldown()
    setState('reconnected')
    const timer = setTimeout(() => setState('connected'), reconnectedShownMs)
    return () => clearTimeout(timer)
  }, [status])
  // The effect above runs only after this render, so check the status here too. Stale content must never look live.
  return status === 'reconnecting' ? 'reconnecting' : state
}

export function ConnectionBanner({ state }: { readonly state: ConnectionState }): ReactNode {
  return (
    <div className={`connection ${state}`} role="status">
      <span className="connection-text">{connectionTexts[state]}</span>
    </div>
  )
}

const textFields = 'textarea, input:not([type="radio"], [type="checkbox"]), [contenteditable="true"]'

/** Makes an element inert while its content is stale, and restores the focus afterwards. Does nothing if a text field in the element has the focus when the content becomes stale, because losing the focus would interrupt the person's typing. */
export function useInertWhile(inert: boolean, ref: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const screen = ref.current
    if (!inert || !screen) return
    const focused = document.activeElement
    const inside = focused instanceof HTMLElement && screen.contains(focused) ? focused : null
    if (inside?.matches(textFields)) return
    screen.inert = true
    return () => {
      screen.inert = false
      if (inside?.isConnected && document.activeElement === document.body) inside.focus({ preventScroll: true })
    }
  }, [inert, ref])
}

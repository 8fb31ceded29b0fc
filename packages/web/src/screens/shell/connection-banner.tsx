/** Whether the gateway is there: a thin line while it is not, and a word when it is back. It lies over the page and moves nothing. */
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { startCooldown } from '../../shortcuts/input-cooldown.ts'
import './connection-banner.css'

const backShownMs = 3000

export type Reachability = 'connected' | 'reconnecting' | 'reconnected'

/** `reconnecting` as soon as the connection is lost, `reconnected` for a few seconds after it is back. */
export function useReachability(): Reachability {
  const status = useInboxPart(snapshot => snapshot.status)
  const [reach, setReach] = useState<Reachability>('connected')
  const lost = useRef(false)
  useEffect(() => {
    if (status === 'reconnecting') {
      lost.current = true
      setReach('reconnecting')
      return
    }
    if (status !== 'live' || !lost.current) return
    lost.current = false
    startCooldown()
    setReach('reconnected')
    const timer = setTimeout(() => setReach('connected'), backShownMs)
    return () => clearTimeout(timer)
  }, [status])
  // What is drawn in the same moment must not look live either.
  return status === 'reconnecting' ? 'reconnecting' : reach
}

const words: Record<Reachability, string> = {
  connected: '',
  reconnecting: 'Reconnecting… What you see may be old.',
  reconnected: 'Reconnected',
}

export function ConnectionBanner({ reach }: { readonly reach: Reachability }): ReactNode {
  return (
    <div className={`connection ${reach}`} role="status">
      <span className="connection-text">{words[reach]}</span>
    </div>
  )
}

const textual = 'textarea, input:not([type="radio"], [type="checkbox"]), [contenteditable="true"]'

/** Makes old content inert, except under someone who is writing: their words must not fall on the floor. Gives the focus back after. */
export function useInertWhile(away: boolean, place: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const screen = place.current
    if (!away || !screen) return
    const focused = document.activeElement
    const inside = focused instanceof HTMLElement && screen.contains(focused) ? focused : null
    if (inside?.matches(textual)) return
    screen.inert = true
    return () => {
      screen.inert = false
      if (inside?.isConnected && document.activeElement === document.body) inside.focus({ preventScroll: true })
    }
  }, [away, place])
}

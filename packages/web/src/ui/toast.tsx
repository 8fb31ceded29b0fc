/** The page's toast: a short message that screen readers announce and that disappears by itself. */
import { type ReactNode, useSyncExternalStore } from 'react'
import './toast.css'

interface Toast {
  readonly text: string
  readonly visible: boolean
  /** Unique per toast, so that screen readers announce the same text again when it is shown again. */
  readonly id: number
}

const visibleMs = 4000
/** Longer than the CSS transition: the text must stay until the toast has faded out. */
const fadeMs = 250

let current: Toast = { text: '', visible: false, id: 0 }
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

export function showToast(text: string): void {
  clearTimeout(timer)
  update({ text, visible: true, id: current.id + 1 })
  timer = setTimeout(dismissToast, visibleMs)
}
/** Hides the current toast, for example because it is no longer true. */
export function dismissToast(): void {
  clearTimeout(timer)
  update({ ...current, visible: false })
  timer = setTimeout(() => update({ ...current, text: '' }), fadeMs)
}

function update(next: Toast): void {
  current = next
  for (const listener of listeners) listener()
}
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function ToastView(): ReactNode {
  const { text, visible, id } = useSyncExternalStore(subscribe, () => current)
  return (
    <div className={`toast ${visible ? 'shown' : ''}`} role="status">
      <span key={id}>{text}</span>
    </div>
  )
}

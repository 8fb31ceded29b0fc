/** The page's toast: a short message that screen readers announce and that disappears by itself. */
import { createObservableStore } from '@holdpoint/client'
import { type ReactNode, useSyncExternalStore } from 'react'
import './toast.css'

interface Toast {
  readonly text: string
  readonly visible: boolean
  /** Unique per toast, so that screen readers announce the same text again when it is shown again. */
  readonly id: number
}

const visibleMs = 4000
/** How long the text stays after the toast is hidden. It must be longer than the CSS transition, so that the toast does not become empty while it fades out. */
const fadeMs = 250

const toast = createObservableStore<Toast>({ text: '', visible: false, id: 0 })
let timer: ReturnType<typeof setTimeout> | undefined

export function showToast(text: string): void {
  clearTimeout(timer)
  toast.set({ text, visible: true, id: toast.get().id + 1 })
  timer = setTimeout(dismissToast, visibleMs)
}
/** Hides the current toast, for example because its message is no longer true. */
export function dismissToast(): void {
  clearTimeout(timer)
  toast.set({ ...toast.get(), visible: false })
  timer = setTimeout(() => toast.set({ ...toast.get(), text: '' }), fadeMs)
}

export function ToastView(): ReactNode {
  const { text, visible, id } = useSyncExternalStore(toast.subscribe, toast.get)
  return (
    <div className={`toast ${visible ? 'shown' : ''}`} role="status">
      <span key={id}>{text}</span>
    </div>
  )
}

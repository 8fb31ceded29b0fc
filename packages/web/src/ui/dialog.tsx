/** A dialog in front of the page: the browser keeps the focus in it, and Escape or a click beside it closes it. */
import { type ReactNode, useEffect, useRef } from 'react'
import './dialog.css'

export interface DialogProps {
  readonly label: string
  readonly className?: string
  readonly onClose: () => void
  readonly children: ReactNode
}

export function Dialog({ label, className = '', onClose, children }: DialogProps): ReactNode {
  const place = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = place.current
    const before = document.activeElement
    dialog?.showModal()
    dialog?.querySelector<HTMLElement>('[data-first]')?.focus()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is beside the dialog; Escape does the same by keyboard
    <dialog
      ref={place}
      className={`dialog ${className}`}
      aria-label={label}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
      onClick={event => event.target === place.current && onClose()}
    >
      <div className="dialog-body">{children}</div>
    </dialog>
  )
}

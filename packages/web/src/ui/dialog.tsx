/** A modal dialog. The browser keeps the focus inside the dialog; Escape or a click outside closes the dialog. */
import { type ReactNode, useEffect, useRef } from 'react'
import './dialog.css'

export interface DialogProps {
  readonly label: string
  readonly className?: string
  readonly onClose: () => void
  readonly children: ReactNode
}

export function Dialog({ label, className = '', onClose, children }: DialogProps): ReactNode {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current
    const focusedBefore = document.activeElement
    dialog?.showModal()
    dialog?.querySelector<HTMLElement>('[data-first]')?.focus()
    return () => {
      dialog?.close()
      if (focusedBefore instanceof HTMLElement && focusedBefore.isConnected)
        focusedBefore.focus({ preventScroll: true })
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: this handles clicks on the backdrop; Escape does the same by keyboard
    <dialog
      ref={ref}
      className={`dialog ${className}`}
      aria-label={label}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
      onClick={event => event.target === ref.current && onClose()}
    >
      <div className="dialog-body">{children}</div>
    </dialog>
  )
}

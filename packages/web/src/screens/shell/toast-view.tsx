/** Where what is announced can be heard and, for a moment, read. */
import type { ReactNode } from 'react'
import { useToast } from '../../notifications/toast.ts'
import './toast-view.css'

export function ToastView(): ReactNode {
  const { text, visible, id } = useToast()
  return (
    <div className={`toast ${visible ? 'shown' : ''}`} role="status">
      <span key={id}>{text}</span>
    </div>
  )
}

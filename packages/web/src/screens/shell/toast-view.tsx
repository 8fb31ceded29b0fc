/** Where what is announced can be heard and, for a moment, read. */
import type { ReactNode } from 'react'
import { useToast } from '../../notifications/toast.ts'

export function ToastView(): ReactNode {
  const { words, shown, turn } = useToast()
  return (
    <div className={`announcement ${shown ? 'shown' : ''}`} role="status">
      <span key={turn}>{words}</span>
    </div>
  )
}

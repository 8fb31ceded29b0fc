/** The shape of what is coming, once it takes longer than a moment. */
import type { ReactNode } from 'react'
import { useDelay } from './use-delay.ts'
import './skeleton.css'

export function Skeleton({ kind, count = 3 }: { readonly kind: 'card' | 'row'; readonly count?: number }): ReactNode {
  const late = useDelay()
  if (!late) return null
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={i} className={`skeleton ${kind}`} />
      ))}
    </div>
  )
}

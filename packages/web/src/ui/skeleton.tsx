/** Placeholder shapes shown while content loads. */
import { type ReactNode, useEffect, useState } from 'react'
import './skeleton.css'

/** The skeleton appears only after this delay, because content that loads faster would make it flash. */
const delayMs = 200

export function Skeleton({ kind, count = 3 }: { readonly kind: 'card' | 'row'; readonly count?: number }): ReactNode {
  const [visible, setVisible] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setVisible(true), delayMs)
    return () => clearTimeout(timer)
  }, [])
  if (!visible) return null
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the shapes are identical
        <div key={i} className={`skeleton ${kind}`} />
      ))}
    </div>
  )
}

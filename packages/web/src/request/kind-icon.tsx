/** The icon of a request without a risk: questions or a form. */
import type { Ask } from '@holdpoint/protocol'
import type { ReactNode } from 'react'

/** Shapes in a box of 16 × 16. */
const shapes: Readonly<Record<Exclude<Ask['kind'], 'approval'>, string>> = {
  questions: 'M2.5 3.5h11v7h-6l-3 3v-3h-2ZM6.6 6a1.4 1.4 0 1 1 1.8 1.3c-.3.1-.4.3-.4.6M8 9.1v.1',
  form: 'M3 2.5h10v11H3ZM5.5 5.5h5M5.5 8h5M5.5 10.5h3',
}

export function KindIcon({ kind }: { readonly kind: Ask['kind'] }): ReactNode {
  return (
    <svg className="risk-icon kind" viewBox="0 0 16 16" aria-hidden="true">
      <path className="risk-outline" d={shapes[kind === 'approval' ? 'form' : kind]} />
    </svg>
  )
}

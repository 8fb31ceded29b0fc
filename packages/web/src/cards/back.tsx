/** The way out of a step, back to the first row of buttons. */
import type { ReactNode } from 'react'
import type { Hand } from './hand.ts'

export function Back({ hand, onBack }: { readonly hand: Hand; readonly onBack: () => void }): ReactNode {
  return (
    <button type="button" className="button plain apart" disabled={hand.pressed !== null} onClick={onBack}>
      Back
    </button>
  )
}

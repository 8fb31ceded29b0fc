/** The screen shown when a sign-in link would replace the person who is signed in. */
import { labelText } from '@holdpoint/client'
import { type ReactNode, useState } from 'react'
import { switchPersonTexts } from './texts.ts'
import './sign-in-screen.css'

export interface SwitchPersonScreenProps {
  readonly current: string
  readonly other: string
  readonly onStay: () => void
  readonly onSwitch: () => void
}

export function SwitchPersonScreen({ current, other, onStay, onSwitch }: SwitchPersonScreenProps): ReactNode {
  const [switching, setSwitching] = useState(false)
  const names = { current: labelText(current), other: labelText(other) }
  const confirmSwitch = () => {
    setSwitching(true)
    onSwitch()
  }
  return (
    <main className="sign-in">
      <img src="/favicon.svg" alt="" width={48} height={48} />
      <h1>{switchPersonTexts.title(names)}</h1>
      <p>{switchPersonTexts.explanation(names)}</p>
      <div className="sign-in-choices">
        <button type="button" className="button primary" disabled={switching} onClick={onStay}>
          {switchPersonTexts.stay(names)}
        </button>
        <button type="button" className="button" disabled={switching} onClick={confirmSwitch}>
          {switchPersonTexts.switch(names)}
        </button>
      </div>
    </main>
  )
}

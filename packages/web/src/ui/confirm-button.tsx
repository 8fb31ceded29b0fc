/** A button whose press is asked about once more, where it stands: the way back has the focus, and nothing counts until a double click would be over. */
import { type ReactNode, type Ref, type RefObject, useEffect, useRef, useState } from 'react'
import { cooldownMs } from '../shortcuts/input-cooldown.ts'
import './confirm-button.css'

export interface ConfirmButtonProps {
  /** Of the button that asks. */
  readonly label: ReactNode
  readonly question: string
  /** What would come of it. */
  readonly about?: string
  readonly yes: string
  readonly held: boolean
  readonly className?: string
  /** Whether the button that asks stands back. */
  readonly plain?: boolean
  /** The button that asks: a key may press it. */
  readonly ref?: Ref<HTMLButtonElement>
  readonly onYes: () => void
}

export function ConfirmButton(props: ConfirmButtonProps): ReactNode {
  const { label, question, about, yes, held, className = '', plain = true, ref, onYes } = props
  const [asking, setAsking] = useState(false)
  if (!asking)
    return (
      <button
        ref={ref}
        type="button"
        className={`button ${plain ? 'plain' : ''} ${className}`}
        disabled={held}
        // A key that stands beside the word is part of the name, too.
        aria-label={typeof label === 'string' ? question.replace(/\?$/, '…') : undefined}
        onClick={() => setAsking(true)}
      >
        {label}
      </button>
    )
  const back = () => setAsking(false)
  return (
    <fieldset className="confirm" onKeyDown={event => event.key === 'Escape' && back()}>
      <legend className="visually-hidden">{question}</legend>
      {about !== undefined && <span className="small">{about}</span>}
      <Answers
        {...{ yes, held, className, back }}
        onYes={() => {
          back()
          onYes()
        }}
      />
    </fieldset>
  )
}

/** Whoever is asked a second time stands at the way back, and the press that asked may have been one half of a double click. */
export function useCancelFocus(): { readonly back: RefObject<HTMLButtonElement | null>; readonly ready: boolean } {
  const back = useRef<HTMLButtonElement>(null)
  useEffect(() => back.current?.focus(), [])
  return { back, ready: useArmed() }
}

/** True once the other half of a double click, whose first half brought this about, would have come. */
export function useArmed(): boolean {
  const [ready, setReady] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), cooldownMs)
    return () => clearTimeout(timer)
  }, [])
  return ready
}

type AnswersProps = Pick<ConfirmButtonProps, 'yes' | 'held' | 'onYes'> & {
  readonly className: string
  readonly back: () => void
}

function Answers({ yes, held, className, back, onYes }: AnswersProps): ReactNode {
  const { back: way, ready } = useCancelFocus()
  return (
    <>
      <button ref={way} type="button" className={`button plain ${className}`} onClick={back}>
        Keep it
      </button>
      <button type="button" className={`button ${className}`} disabled={held || !ready} onClick={onYes}>
        {yes}
      </button>
    </>
  )
}

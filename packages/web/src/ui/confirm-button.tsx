/** A button that asks for confirmation in its place. The focus moves to Cancel, and the confirming button is disabled until a double click would be over. */
import { type ReactNode, type Ref, type RefObject, useEffect, useRef, useState } from 'react'
import { cooldownMs } from './input-cooldown.ts'
import './confirm-button.css'

export interface ConfirmButtonProps {
  /** Of the first button. */
  readonly label: ReactNode
  readonly question: string
  /** What would happen. */
  readonly consequence?: string
  /** Of the confirming button. */
  readonly confirmLabel: string
  readonly disabled: boolean
  readonly className?: string
  /** Whether the first button has no border. */
  readonly plain?: boolean
  /** The first button, so that a shortcut can click it. */
  readonly ref?: Ref<HTMLButtonElement>
  readonly onConfirm: () => void
}

export function ConfirmButton(props: ConfirmButtonProps): ReactNode {
  const { label, question, consequence, confirmLabel, disabled, className = '', plain = true, ref, onConfirm } = props
  const [confirming, setConfirming] = useState(false)
  if (!confirming)
    return (
      <button
        ref={ref}
        type="button"
        className={`button ${plain ? 'plain' : ''} ${className}`}
        disabled={disabled}
        // A label with a shortcut hint names the button by itself.
        aria-label={typeof label === 'string' ? question.replace(/\?$/, '…') : undefined}
        onClick={() => setConfirming(true)}
      >
        {label}
      </button>
    )
  const cancel = () => setConfirming(false)
  return (
    <fieldset className="confirm" onKeyDown={event => event.key === 'Escape' && cancel()}>
      <legend className="visually-hidden">{question}</legend>
      {consequence !== undefined && <span className="small">{consequence}</span>}
      <Choices
        {...{ confirmLabel, disabled, className, cancel }}
        onConfirm={() => {
          cancel()
          onConfirm()
        }}
      />
    </fieldset>
  )
}

/** Focuses the cancel button of a confirmation; `ready` becomes true once the click that opened it cannot be half of a double click. */
export function useCancelFocus(): { readonly cancelRef: RefObject<HTMLButtonElement | null>; readonly ready: boolean } {
  const cancelRef = useRef<HTMLButtonElement>(null)
  useEffect(() => cancelRef.current?.focus(), [])
  return { cancelRef, ready: useArmed() }
}

/** False until the second click of a double click, whose first click mounted the component, would have arrived. */
export function useArmed(): boolean {
  const [armed, setArmed] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), cooldownMs)
    return () => clearTimeout(timer)
  }, [])
  return armed
}

type ChoicesProps = Pick<ConfirmButtonProps, 'confirmLabel' | 'disabled' | 'onConfirm'> & {
  readonly className: string
  readonly cancel: () => void
}

function Choices({ confirmLabel, disabled, className, cancel, onConfirm }: ChoicesProps): ReactNode {
  const { cancelRef, ready } = useCancelFocus()
  return (
    <>
      <button ref={cancelRef} type="button" className={`button plain ${className}`} onClick={cancel}>
        Cancel
      </button>
      <button type="button" className={`button ${className}`} disabled={disabled || !ready} onClick={onConfirm}>
        {confirmLabel}
      </button>
    </>
  )
}

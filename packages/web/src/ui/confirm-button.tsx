/** A button that is replaced by a confirmation when clicked. The focus moves to Cancel, and the confirming button is disabled at first, so that a double click confirms nothing. */
import { type ReactNode, type Ref, type RefObject, useEffect, useRef, useState } from 'react'
import { cooldownMs } from './input-cooldown.ts'
import './confirm-button.css'

export interface ConfirmButtonProps {
  /** The label of the button that asks for confirmation. */
  readonly label: ReactNode
  readonly question: string
  /** A sentence that says what confirming does. */
  readonly consequence?: string
  /** The label of the confirming button. */
  readonly confirmLabel: string
  readonly disabled: boolean
  readonly className?: string
  /** True if the button that asks for confirmation has no border. */
  readonly plain?: boolean
  /** A ref to the button that asks for confirmation, so that a keyboard shortcut can click it. */
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
        // A string label such as “End…” is too short for screen readers, so they get the question. A label with a shortcut hint is an element and keeps its text.
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

/** Focuses the Cancel button of a confirmation. `ready` is false for a moment, so that a double click confirms nothing. */
export function useCancelFocus(): { readonly cancelRef: RefObject<HTMLButtonElement | null>; readonly ready: boolean } {
  const cancelRef = useRef<HTMLButtonElement>(null)
  useEffect(() => cancelRef.current?.focus(), [])
  return { cancelRef, ready: useArmed() }
}

/** Returns false for a moment after the component is mounted, and then true, so that the second click of a double click does nothing. */
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

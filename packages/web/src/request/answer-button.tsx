/** Buttons that send an answer. They show progress, ignore the second click of a double click, and require a second click or a long press if the request is dangerous. */
import type { Answer } from '@holdpoint/protocol'
import { type MouseEvent, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useCancelFocus } from '../ui/confirm-button.tsx'
import type { AnswerSubmission } from './answer-submission.ts'
import { useShortcutLabel } from './shortcut.tsx'
import { cardTexts } from './texts.ts'
import './answer-button.css'

export interface AnswerButtonProps {
  readonly submission: AnswerSubmission
  readonly label: string
  /** The label while the answer is being sent, such as "Allowing…". */
  readonly busyLabel: string
  /** The answer that the button sends; null disables the button. */
  readonly answer: Answer | null
  readonly className?: string
  readonly shortcut?: string | undefined
  /** Id of the element that summarizes the request, for screen readers. */
  readonly descriptionId?: string | undefined
}

export function AnswerButton({
  submission,
  label,
  busyLabel,
  answer,
  className = '',
  shortcut,
  descriptionId,
}: AnswerButtonProps): ReactNode {
  const sending = submission.sendingLabel === label
  const hint = useShortcutLabel(answer && !submission.disabled ? shortcut : undefined)
  const onClick = (event: MouseEvent) => {
    if (answer && event.detail <= 1) submission.submit(label, answer)
  }
  return (
    <button
      type="button"
      className={`button answer-button ${className} ${sending ? 'sending' : ''}`}
      disabled={submission.disabled || answer === null}
      aria-busy={sending}
      aria-describedby={descriptionId}
      {...hint}
      onClick={onClick}
    >
      {sending ? busyLabel : label}
    </button>
  )
}

export interface DangerousAnswerButtonProps extends AnswerButtonProps {
  /** Tells the person why they have to confirm. */
  readonly warning: string
}

/** An answer button for dangerous requests. On touch screens, people hold the button down. On other screens, they click the button and then confirm. The button has no shortcut. */
export function DangerousAnswerButton({ warning, ...props }: DangerousAnswerButtonProps): ReactNode {
  const [confirming, setConfirming] = useState(false)
  const isTouch = useIsTouch()
  const { submission, label, answer } = props
  if (confirming) return <ConfirmDanger {...props} warning={warning} onBack={() => setConfirming(false)} />
  if (isTouch) return <HoldButton {...props} onConfirm={() => setConfirming(true)} />
  return (
    <button
      type="button"
      className="button allow"
      disabled={submission.disabled || answer === null}
      aria-describedby={props.descriptionId}
      onClick={() => setConfirming(true)}
    >
      {`${anywayLabel(label)}…`}
    </button>
  )
}

function anywayLabel(label: string): string {
  return `${label.replace(/ once$/, '')} anyway`
}

type ConfirmDangerProps = DangerousAnswerButtonProps & { readonly onBack: () => void }

function ConfirmDanger({ onBack, warning, ...props }: ConfirmDangerProps): ReactNode {
  const { cancelRef, ready } = useCancelFocus()
  const { submission, answer } = props
  return (
    <fieldset className="confirm-danger">
      <legend>{warning}</legend>
      <button ref={cancelRef} type="button" className="button" disabled={submission.disabled} onClick={onBack}>
        {cardTexts.back}
      </button>
      <AnswerButton
        {...props}
        label={anywayLabel(props.label)}
        answer={ready || submission.sendingLabel ? answer : null}
      />
    </fieldset>
  )
}

const holdMs = 600

function HoldButton({ onConfirm, ...props }: AnswerButtonProps & { readonly onConfirm: () => void }): ReactNode {
  const { submission, label, busyLabel, answer } = props
  const [holding, setHolding] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const stop = () => {
    clearTimeout(timer.current)
    setHolding(false)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  // The answer can change while the person holds the button, so the timer must send the latest answer.
  const submit = useRef(() => {})
  useEffect(() => {
    submit.current = () => answer && submission.submit(label, answer)
  })
  const start = () => {
    if (!answer) return
    setHolding(true)
    timer.current = setTimeout(() => {
      setHolding(false)
      submit.current()
    }, holdMs)
  }
  return (
    <button
      type="button"
      className={`button allow hold-button ${holding ? 'holding' : ''}`}
      disabled={submission.disabled || answer === null}
      aria-describedby={props.descriptionId}
      onPointerDown={start}
      onPointerUp={stop}
      onPointerLeave={stop}
      onPointerCancel={stop}
      onContextMenu={event => event.preventDefault()}
      // Screen readers and keyboards cannot hold a button, and their clicks have `detail` 0, so ask for confirmation instead.
      onClick={event => event.detail === 0 && onConfirm()}
    >
      {submission.sendingLabel === label ? busyLabel : holding ? cardTexts.keepHolding : cardTexts.holdTo(label)}
    </button>
  )
}

const touchQuery = '(pointer: coarse)'
function subscribeTouch(listener: () => void): () => void {
  const media = matchMedia(touchQuery)
  media.addEventListener('change', listener)
  return () => media.removeEventListener('change', listener)
}
function useIsTouch(): boolean {
  return useSyncExternalStore(subscribeTouch, () => matchMedia(touchQuery).matches)
}

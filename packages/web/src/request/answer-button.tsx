/** Buttons that send an answer. They show progress, ignore clicks that began before the card moved or changed, and require a second click or a long press if the request is dangerous. */
import type { Answer } from '@holdpoint/protocol'
import { type MouseEvent, type ReactNode, use, useState } from 'react'
import { useIsKeyHeld } from '../shortcuts/held-key.ts'
import { useCancelFocus } from '../ui/confirm-button.tsx'
import { useMediaQuery } from '../ui/use-media-query.ts'
import type { AnswerSubmission } from './answer-submission.ts'
import { CardContext, useShortcutLabel } from './shortcut.tsx'
import { cardTexts } from './texts.ts'
import { useHold } from './use-hold.ts'
import { usePress } from './use-press.ts'
import './answer-button.css'

export interface AnswerButtonProps {
  readonly submission: AnswerSubmission
  readonly label: string
  /** The label while the answer is being sent, such as "Allowing…". */
  readonly busyLabel: string
  /** The answer that the button sends; null disables the button. */
  readonly answer: Answer | null
  /** True while the gateway is checking the answer. The button then does nothing, but it keeps its place in the tab order: otherwise Tab would go to the button beside it. */
  readonly checking?: boolean | undefined
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
  checking = false,
  className = '',
  shortcut,
  descriptionId,
}: AnswerButtonProps): ReactNode {
  const sending = submission.sendingLabel === label
  const hint = useShortcutLabel(answer && !submission.disabled ? shortcut : undefined)
  const { active } = use(CardContext)
  const isKeyHeld = useIsKeyHeld('card') && active && shortcut !== undefined
  const { ref, onPointerDown, pressOf } = usePress(contentOf(label, answer))
  const onClick = (event: MouseEvent) => {
    if (answer && event.detail <= 1) submission.submit(label, answer, pressOf(event))
  }
  return (
    <button
      ref={ref}
      type="button"
      className={`button answer-button ${className} ${sending ? 'sending' : ''} ${isKeyHeld ? 'key-held' : ''}`}
      disabled={submission.disabled || (answer === null && !checking)}
      aria-disabled={checking || undefined}
      aria-busy={sending || checking}
      aria-describedby={descriptionId}
      {...hint}
      onPointerDown={onPointerDown}
      onClick={onClick}
    >
      {sending ? busyLabel : label}
    </button>
  )
}

function contentOf(label: string, answer: Answer | null): string {
  return `${label} ${JSON.stringify(answer)}`
}

export interface DangerousAnswerButtonProps extends AnswerButtonProps {
  /** Tells the person why they have to confirm. */
  readonly warning: string
}

/** An answer button for dangerous requests. With a finger or a pen, people hold the button down. With a mouse or a keyboard, they click the button and then confirm. The button has no shortcut. */
export function DangerousAnswerButton({ warning, ...props }: DangerousAnswerButtonProps): ReactNode {
  const { submission, label, busyLabel, answer } = props
  const [confirming, setConfirming] = useState(false)
  const [touched, setTouched] = useState(false)
  const usesTouch = useIsTouch() || touched
  const disabled = submission.disabled || answer === null
  const content = contentOf(label, disabled ? null : answer)
  const { ref, onPointerDown, heldPress, isTouch } = usePress(content)
  const { holding, start } = useHold(content, () => answer && submission.submit(label, answer, heldPress()))
  if (confirming) return <ConfirmDanger {...props} warning={warning} onBack={() => setConfirming(false)} />
  return (
    <button
      ref={ref}
      type="button"
      className={`button allow hold-button ${holding ? 'holding' : ''}`}
      disabled={disabled}
      aria-describedby={props.descriptionId}
      onPointerDown={event => {
        onPointerDown(event)
        if (!isTouch()) return
        setTouched(true)
        start(event)
      }}
      onContextMenu={event => isTouch() && event.preventDefault()}
      // Screen readers and keyboards cannot hold a button, and their clicks have `detail` 0, so ask for confirmation instead.
      onClick={event => (event.detail === 0 || !isTouch()) && setConfirming(true)}
    >
      {submission.sendingLabel === label
        ? busyLabel
        : holding
          ? cardTexts.keepHolding
          : usesTouch
            ? cardTexts.holdTo(label)
            : `${anywayLabel(label)}…`}
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

function useIsTouch(): boolean {
  return useMediaQuery('(pointer: coarse)')
}

/** Buttons that decide: they show that they are sending, count no second click of a double click, and ask twice where the agent's own program would say no. */
import type { Answer } from '@holdpoint/protocol'
import { type MouseEvent, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useCancelFocus } from '../ui/confirm-button.tsx'
import type { AnswerSubmission } from './answer-submission.ts'
import { useShortcutLabel } from './shortcut.tsx'
import './answer-button.css'

export interface AnswerButtonProps {
  readonly hand: AnswerSubmission
  readonly label: string
  /** While it is on its way: "Allowing…". */
  readonly busy: string
  /** Null: it cannot be given, and the button is disabled. */
  readonly answer: Answer | null
  readonly className?: string
  /** The key that does the same. */
  readonly shortcut?: string | undefined
  /** The name of the element that says what is decided. */
  readonly about?: string | undefined
}

export function AnswerButton({
  hand,
  label,
  busy,
  answer,
  className = '',
  shortcut,
  about,
}: AnswerButtonProps): ReactNode {
  const sending = hand.pressed === label
  const hint = useShortcutLabel(answer && !hand.held ? shortcut : undefined)
  const press = (event: MouseEvent) => {
    if (answer && event.detail <= 1) hand.send(label, answer)
  }
  return (
    <button
      type="button"
      className={`button answer-button ${className} ${sending ? 'sending' : ''}`}
      disabled={hand.held || answer === null}
      aria-busy={sending}
      aria-describedby={about}
      {...hint}
      onClick={press}
    >
      {sending ? busy : label}
    </button>
  )
}

/** The same, by a deliberate second step: a press that is held where fingers press, a question elsewhere. No key reaches it. */
export function DangerousAnswerButton(props: AnswerButtonProps): ReactNode {
  const [asking, setAsking] = useState(false)
  const coarse = useCoarse()
  const { hand, label, answer } = props
  if (asking) return <ConfirmDanger {...props} onBack={() => setAsking(false)} />
  if (coarse) return <HoldButton {...props} onAsk={() => setAsking(true)} />
  return (
    <button
      type="button"
      className="button allow"
      disabled={hand.held || answer === null}
      aria-describedby={props.about}
      onClick={() => setAsking(true)}
    >
      {anyway(label)}…
    </button>
  )
}

function anyway(label: string): string {
  return `${label.replace(/ once$/, '')} anyway`
}

function ConfirmDanger({ onBack, ...props }: AnswerButtonProps & { readonly onBack: () => void }): ReactNode {
  const { cancelRef, ready } = useCancelFocus()
  const { hand, answer } = props
  return (
    <fieldset className="confirm-danger">
      <legend>The agent’s own program would say no to this.</legend>
      <button ref={cancelRef} type="button" className="button" disabled={hand.held} onClick={onBack}>
        Back
      </button>
      <AnswerButton {...props} label={anyway(props.label)} answer={ready || hand.pressed ? answer : null} />
    </fieldset>
  )
}

const holdMs = 600

function HoldButton({ onAsk, ...props }: AnswerButtonProps & { readonly onAsk: () => void }): ReactNode {
  const { hand, label, busy, answer } = props
  const [holding, setHolding] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const stop = () => {
    clearTimeout(timer.current)
    setHolding(false)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  // What is sent is what stands there when the time is up, not when it began.
  const send = useRef(() => {})
  useEffect(() => {
    send.current = () => answer && hand.send(label, answer)
  })
  const begin = () => {
    if (!answer) return
    setHolding(true)
    timer.current = setTimeout(() => {
      setHolding(false)
      send.current()
    }, holdMs)
  }
  return (
    <button
      type="button"
      className={`button allow hold-button ${holding ? 'holding' : ''}`}
      disabled={hand.held || answer === null}
      aria-describedby={props.about}
      onPointerDown={begin}
      onPointerUp={stop}
      onPointerLeave={stop}
      onPointerCancel={stop}
      onContextMenu={event => event.preventDefault()}
      // Without a pointer (a screen reader, a keyboard) nothing can be held: it asks instead.
      onClick={event => event.detail === 0 && onAsk()}
    >
      {hand.pressed === label
        ? busy
        : holding
          ? 'Keep holding…'
          : `Hold to ${label.charAt(0).toLowerCase()}${label.slice(1)}`}
    </button>
  )
}

const query = '(pointer: coarse)'
function subscribe(listener: () => void): () => void {
  const media = matchMedia(query)
  media.addEventListener('change', listener)
  return () => media.removeEventListener('change', listener)
}
function useCoarse(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches)
}

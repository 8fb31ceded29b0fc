/** Asks for one reason to deny all selected requests. Enter denies and Escape goes back. The buttons are disabled at first, so that a double click on the button that opened this form does nothing else. */
import type { KeyboardEvent, ReactNode } from 'react'
import { SendHint } from '../../request/send-key.tsx'
import { usePress } from '../../request/use-press.ts'
import { keyRuns } from '../../shortcuts/key-runs.ts'
import type { Press } from '../../shortcuts/press.ts'
import { useArmed } from '../../ui/confirm-button.tsx'

export interface DenyAllProps {
  readonly count: number
  readonly reason: string
  readonly sending: boolean
  /** True while the gateway is reachable. */
  readonly live: boolean
  readonly onReason: (reason: string) => void
  readonly onBack: () => void
  readonly onDeny: (press: Press) => void
}

export function DenyAll({ count, reason, sending, live, onReason, onBack, onDeny }: DenyAllProps): ReactNode {
  const ready = useArmed()
  const disabled = !ready || sending || !live
  const { ref, onPointerDown, pressOf } = usePress(`${count} ${reason}`)
  const onKeyDown = (event: KeyboardEvent) => {
    // Ignore Enter and Escape during an IME composition.
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') onBack()
    if (event.key !== 'Enter' || disabled || event.repeat) return
    event.preventDefault()
    onDeny({ at: event.timeStamp, isTyped: !keyRuns.maySend })
  }
  return (
    <div className="batch-row">
      <input
        className="input batch-reason"
        aria-label={count === 1 ? 'Reason for denying 1 request' : `Reason for denying ${count} requests`}
        placeholder="Reason (the agents will see it)"
        // biome-ignore lint/a11y/noAutofocus: the person just opened this field
        autoFocus
        readOnly={sending}
        value={reason}
        onChange={event => onReason(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <SendHint send={disabled ? null : onDeny} isLine />
      <button
        ref={ref}
        type="button"
        className="button confirm-deny"
        disabled={disabled}
        onPointerDown={onPointerDown}
        onClick={event => onDeny(pressOf(event))}
      >
        {sending ? 'Sending…' : `Deny ${count}`}
      </button>
      <button type="button" className="button plain" disabled={sending || !ready} onClick={onBack}>
        Back
      </button>
    </div>
  )
}

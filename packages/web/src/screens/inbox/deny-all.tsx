/** Asks for one reason to deny all selected requests. Enter denies and Escape goes back. The Deny button is disabled at first, so that a double click on the button that opened this form denies nothing. */
import type { ReactNode } from 'react'
import { useArmed } from '../../ui/confirm-button.tsx'

export interface DenyAllProps {
  readonly count: number
  readonly reason: string
  readonly sending: boolean
  /** True while the gateway is reachable. */
  readonly live: boolean
  readonly onReason: (reason: string) => void
  readonly onBack: () => void
  readonly onDeny: () => void
}

export function DenyAll({ count, reason, sending, live, onReason, onBack, onDeny }: DenyAllProps): ReactNode {
  const ready = useArmed()
  return (
    <form
      className="batch-row"
      onSubmit={event => {
        event.preventDefault()
        onDeny()
      }}
    >
      <input
        className="input batch-reason"
        aria-label={count === 1 ? 'Reason for denying 1 request' : `Reason for denying ${count} requests`}
        placeholder="Reason (the agents will see it)"
        // biome-ignore lint/a11y/noAutofocus: the person just opened this field
        autoFocus
        readOnly={sending}
        value={reason}
        onChange={event => onReason(event.target.value)}
        onKeyDown={event => {
          // Ignore Enter and Escape during an IME composition.
          if (event.nativeEvent.isComposing) return event.key === 'Enter' && event.preventDefault()
          if (event.key === 'Escape') onBack()
        }}
      />
      <button type="submit" className="button" disabled={!ready || sending || !live}>
        {sending ? 'Sending…' : `Deny ${count}`}
      </button>
      <button type="button" className="button plain" disabled={sending} onClick={onBack}>
        Back
      </button>
    </form>
  )
}

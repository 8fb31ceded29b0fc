/** Why several are denied, asked once for all of them: Enter denies, Escape goes back, and neither counts as half of a double click. */
import type { ReactNode } from 'react'
import { useArmed } from '../../ui/confirm-button.tsx'

export interface DenyAllProps {
  readonly count: number
  readonly reason: string
  readonly sending: boolean
  /** It can be sent now. */
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
        aria-label={`Why ${count} are denied`}
        placeholder="Why? The agents read it."
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field
        autoFocus
        readOnly={sending}
        value={reason}
        onChange={event => onReason(event.target.value)}
        onKeyDown={event => {
          // Whoever composes a sign ends that, and nothing else.
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

/** Stopping what the agent does: its turn, or the session. What would be lost is asked about once more, where the button was. */
import type { Session } from '@holdpoint/protocol'
import { type ReactNode, type Ref, useRef, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { stopWarning } from '../../gateway/stop-warning.ts'
import { inCooldown } from '../../shortcuts/input-cooldown.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import './session-actions.css'

export function SessionActions({ session }: { readonly session: Session }): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const [busy, setBusy] = useState<'interruptSession' | 'endSession' | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const act = (op: 'interruptSession' | 'endSession') => {
    setBusy(op)
    setProblem(null)
    call(op, { id: session.id })
      .catch((error: unknown) => setProblem(errorMessage(error)))
      .finally(() => setBusy(null))
  }
  const { state, pending, capabilities } = session
  const works = pending > 0 || state === 'working' || state === 'starting'
  const stoppable = works && state !== 'ended' && capabilities.includes('interrupt')
  const held = !live || busy !== null
  const button = useRef<HTMLButtonElement>(null)
  // Not by a key that was meant for what stood there a moment ago.
  useShortcuts({ interrupt: stoppable && !held ? () => inCooldown() || button.current?.click() : undefined })
  return (
    <div className="session-actions">
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {stoppable && (
        <Interrupt
          ref={button}
          busy={busy === 'interruptSession'}
          {...{ pending, held }}
          onGo={() => act('interruptSession')}
        />
      )}
      {state !== 'ended' && (
        <ConfirmButton
          label="End…"
          question="End this session?"
          about={stopWarning('Its agent stops', pending)}
          yes="End the session"
          held={held}
          onYes={() => act('endSession')}
        />
      )}
    </div>
  )
}

interface InterruptProps {
  readonly ref: Ref<HTMLButtonElement>
  readonly busy: boolean
  readonly pending: number
  readonly held: boolean
  readonly onGo: () => void
}

/** What waits for an answer is dropped with the turn, and that is asked about once more. */
function Interrupt({ ref, busy, pending, held, onGo }: InterruptProps): ReactNode {
  const label = (
    <>
      {busy ? 'Interrupting…' : 'Interrupt'} <span className="kbd">i</span>
    </>
  )
  if (pending === 0)
    return (
      <button ref={ref} type="button" className="button" disabled={held} onClick={onGo}>
        {label}
      </button>
    )
  return (
    <ConfirmButton
      question="Interrupt this turn?"
      about={stopWarning('Its turn ends', pending)}
      yes="Interrupt it"
      plain={false}
      onYes={onGo}
      {...{ ref, label, held }}
    />
  )
}

/** The buttons that interrupt the current turn or end the session. Ending always asks for confirmation, interrupting only if it would cancel pending requests. */
import { isInterruptible } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { type ReactNode, type Ref, useLayoutEffect, useRef, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { useIsKeyHeld } from '../../shortcuts/held-key.ts'
import { useScreenActions } from '../../shortcuts/screen-actions.ts'
import type { ShortcutEffect } from '../../shortcuts/shortcuts.ts'
import { justChanged } from '../../shortcuts/texts.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { inCooldown, startCooldown } from '../../ui/input-cooldown.ts'
import { showToast } from '../../ui/toast.tsx'
import { stopWarning } from '../texts.ts'
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
  const { state, pending } = session
  const isBusy = pending > 0 || state === 'working' || state === 'starting'
  const canInterrupt = isBusy && state !== 'ended' && isInterruptible(session)
  const disabled = !live || busy !== null
  const button = useRef<HTMLButtonElement>(null)
  const interruptByKey = (isHeld: boolean): ShortcutEffect => {
    // Ignore the key during the cooldown: the person may have pressed it for content that was just replaced.
    if (!isHeld && inCooldown()) return { why: justChanged }
    const content = `${session.id} ${pending}`
    return { target: 'interrupt', content, decide: () => button.current?.click() }
  }
  const endButton = useRef<HTMLButtonElement>(null)
  const canEnd = state !== 'ended'
  useScreenActions({
    interrupt: canInterrupt && !disabled ? () => button.current?.click() : undefined,
    end: canEnd && !disabled ? () => endButton.current?.click() : undefined,
  })
  useShortcuts({ interrupt: canInterrupt && !disabled ? interruptByKey : undefined })
  return (
    <div className="session-actions">
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {canInterrupt && (
        <Interrupt
          ref={button}
          busy={busy === 'interruptSession'}
          {...{ pending, disabled }}
          onInterrupt={() => act('interruptSession')}
        />
      )}
      {canEnd && (
        <ConfirmButton
          ref={endButton}
          label="End…"
          question="End this session?"
          consequence={stopWarning('This stops the agent', pending)}
          confirmLabel="End the session"
          disabled={disabled}
          onConfirm={() => act('endSession')}
        />
      )}
    </div>
  )
}

interface InterruptProps {
  readonly ref: Ref<HTMLButtonElement>
  readonly busy: boolean
  readonly pending: number
  readonly disabled: boolean
  readonly onInterrupt: () => void
}

/** The Interrupt button. Asks for confirmation if requests are pending, because interrupting the turn cancels them. */
function Interrupt({ ref, busy, pending, disabled, onInterrupt }: InterruptProps): ReactNode {
  const className = useIsKeyHeld('interrupt') ? 'key-held' : ''
  const label = (
    <>
      {busy ? 'Interrupting…' : 'Interrupt'} <span className="kbd letter-key">i</span>
    </>
  )
  const needsConfirmation = pending > 0
  // When the last request is answered elsewhere, this button takes the place of an open confirmation, where the person may be about to click “Cancel”.
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of the button starts the cooldown
  useLayoutEffect(startCooldown, [needsConfirmation])
  if (!needsConfirmation)
    return (
      <button
        ref={ref}
        type="button"
        className={`button ${className}`}
        disabled={disabled}
        onClick={() => (inCooldown() ? showToast(justChanged) : onInterrupt())}
      >
        {label}
      </button>
    )
  return (
    <ConfirmButton
      question="Interrupt this turn?"
      consequence={stopWarning('This stops the turn', pending)}
      confirmLabel="Interrupt"
      plain={false}
      onConfirm={onInterrupt}
      {...{ ref, label, disabled, className }}
    />
  )
}

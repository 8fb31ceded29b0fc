/** Stopping what the agent does: its turn, or the session. The end is asked about once more, where the button was. */
import type { Session } from '@holdpoint/protocol'
import { type ReactNode, useState } from 'react'
import { useDesk, useLive } from '../desk.ts'
import { SecondLook } from '../frame/second-look.tsx'
import { useKeys } from '../habits/use-keys.ts'
import { isQuiet } from '../quiet.ts'
import { said } from '../said.ts'

export function SessionActions({ session }: { readonly session: Session }): ReactNode {
  const { call } = useDesk()
  const live = useLive()
  const [busy, setBusy] = useState<'interruptSession' | 'endSession' | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const act = (op: 'interruptSession' | 'endSession') => {
    setBusy(op)
    setProblem(null)
    call(op, { id: session.id })
      .catch((error: unknown) => setProblem(said(error)))
      .finally(() => setBusy(null))
  }
  const { state, pending, capabilities } = session
  const works = pending > 0 || state === 'working' || state === 'starting'
  const stoppable = works && state !== 'ended' && capabilities.includes('interrupt')
  const interrupt = stoppable && live && busy === null ? () => act('interruptSession') : null
  // Not by a key that was meant for what stood there a moment ago.
  useKeys({ interrupt: interrupt ? () => isQuiet() || interrupt() : undefined })
  return (
    <div className="session-actions">
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {stoppable && (
        <button type="button" className="button" disabled={!interrupt} onClick={() => interrupt?.()}>
          {busy === 'interruptSession' ? 'Interrupting…' : 'Interrupt'} <span className="kbd">i</span>
        </button>
      )}
      {state !== 'ended' && (
        <SecondLook
          label="End…"
          question="End this session?"
          yes="End the session"
          held={!live || busy !== null}
          onYes={() => act('endSession')}
        />
      )}
    </div>
  )
}

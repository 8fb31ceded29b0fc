/** Stopping what the agent does: its turn, or the session. The end is asked about once more, where the button was. */
import type { Session } from '@holdpoint/protocol'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useDesk, useLive } from '../desk.ts'
import { useKeys } from '../habits/use-keys.ts'
import { isQuiet, quietMs } from '../quiet.ts'
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
      {state !== 'ended' && <EndButton held={!live || busy !== null} onEnd={() => act('endSession')} />}
    </div>
  )
}

function EndButton({ held, onEnd }: { readonly held: boolean; readonly onEnd: () => void }): ReactNode {
  const [asking, setAsking] = useState(false)
  const [ready, setReady] = useState(false)
  const back = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!asking) return
    back.current?.focus()
    // The press that opened this may have been one half of a double click.
    const timer = setTimeout(() => setReady(true), quietMs)
    return () => {
      clearTimeout(timer)
      setReady(false)
    }
  }, [asking])
  if (!asking)
    return (
      <button type="button" className="button plain" disabled={held} onClick={() => setAsking(true)}>
        End…
      </button>
    )
  return (
    <fieldset className="sure-end" onKeyDown={event => event.key === 'Escape' && setAsking(false)}>
      <legend className="offscreen">End this session?</legend>
      <button ref={back} type="button" className="button plain" onClick={() => setAsking(false)}>
        Keep it
      </button>
      <button
        type="button"
        className="button"
        disabled={held || !ready}
        onClick={() => {
          setAsking(false)
          onEnd()
        }}
      >
        End the session
      </button>
    </fieldset>
  )
}

/** Narrows the record down to one session: those that are known here, the newest first. */
import { sessionName } from '@holdpoint/client'
import { escapeInvisible, type SessionId } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { useSessions } from '../../gateway/gateway-context.ts'
import { newestFirst } from '../../gateway/session-groups.ts'
import './session-select.css'

const offeredMax = 200
const titleMax = 60

export interface SessionSelectProps {
  readonly value: SessionId | null
  readonly onChange: (session: SessionId | null) => void
}

export function SessionSelect({ value, onChange }: SessionSelectProps): ReactNode {
  const sessions = useSessions()
  const sorted = useMemo(() => [...sessions.values()].sort(newestFirst).slice(0, offeredMax), [sessions])
  return (
    <select
      className="input session-select"
      aria-label="Session"
      value={value ?? ''}
      onChange={event => onChange(sorted.find(session => session.id === event.target.value)?.id ?? null)}
    >
      <option value="">Every session</option>
      {sorted.map(session => (
        <option key={session.id} value={session.id}>
          {escapeInvisible(sessionName(session)).slice(0, titleMax)}
        </option>
      ))}
    </select>
  )
}

/** What a change of a session says to a reader of its transcript. */
import type { Session } from '@holdpoint/protocol'
import { singleLine } from './display-text.ts'

/** Null where it says nothing. */
export function describeChange(before: Session | null, now: Session): string | null {
  const said = [lifeNote(before, now), ...(before ? [changeNote(before, now), processNote(before, now)] : [])]
  return singleLine(said.filter(text => text !== null).join(' · ')) || null
}

function lifeNote(before: Session | null, now: Session): string | null {
  if (now.state === 'ended') {
    if (before?.state === 'ended') return null
    const { reason = 'done', detail } = now.ending ?? {}
    return `Session ended${reason === 'done' ? '' : `: ${reason}`}${detail ? ` (${detail})` : ''}`
  }
  if (!before) return null
  if (before.state === 'ended') return 'Session reopened'
  if (now.state === 'parked' && before.state !== 'parked')
    return 'Parked: the process is stopped until you answer or send a message'
  if (before.state === 'parked' && now.state !== 'parked') return 'Resumed'
  return null
}

function changeNote(before: Session, now: Session): string | null {
  if (now.mode !== before.mode && now.mode !== null) return `Mode: ${now.mode}`
  if (now.model !== before.model && now.model !== null) return `Model: ${now.model}`
  return null
}

/** Why a process is kept although it only waits, or how it ended: in its driver's words. */
function processNote(before: Session, now: Session): string | null {
  const note = now.process?.note
  return note !== undefined && note !== before.process?.note ? note : null
}

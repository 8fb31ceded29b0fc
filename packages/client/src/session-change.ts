/** Describes changes of a session as notes in its transcript. */
import type { Session } from '@holdpoint/protocol'
import { singleLine } from './display-text.ts'

/** Returns the note for a change of a session, or null if the change needs no note. */
export function describeChange(before: Session | null, now: Session): string | null {
  const notes = [stateNote(before, now), ...(before ? [settingNote(before, now), processNote(before, now)] : [])]
  return singleLine(notes.filter(text => text !== null).join(' · ')) || null
}

function stateNote(before: Session | null, now: Session): string | null {
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
  if (now.state === 'disconnected' && before.state !== 'disconnected')
    return 'Disconnected: the agent has stopped calling, and its requests wait until it comes back'
  if (before.state === 'disconnected' && now.state !== 'disconnected') return 'Connected again'
  return null
}

function settingNote(before: Session, now: Session): string | null {
  if (now.mode !== before.mode && now.mode !== null) return `Mode: ${now.mode}`
  if (now.model !== before.model && now.model !== null) return `Model: ${now.model}`
  return null
}

/** Returns the driver's new note about the process, such as why the process cannot be parked or how it ended. */
function processNote(before: Session, now: Session): string | null {
  const note = now.process?.note
  return note !== undefined && note !== before.process?.note ? note : null
}

/** Stores the unsent message of a session's composer in localStorage, per person and session, so that the message survives navigation. */
import type { SessionId } from '@holdpoint/protocol'
import { useCallback, useState } from 'react'
import { useGateway } from '../gateway/gateway-context.ts'

/** Returns the prefix of the localStorage keys for this person's unsent messages. */
export function messageDraftPrefix(me: string): string {
  return `holdpoint.unsent.${JSON.stringify(me)}.`
}

function readDraft(key: string): string {
  try {
    return localStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

function writeDraft(key: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    // localStorage is blocked or full, so the draft is lost when the person leaves the screen.
  }
}

export function useMessageDraft(id: SessionId): readonly [text: string, setText: (text: string) => void] {
  const { me } = useGateway()
  const key = messageDraftPrefix(me) + id
  const [text, setText] = useState(() => readDraft(key))
  const change = useCallback(
    (next: string) => {
      setText(next)
      writeDraft(key, next)
    },
    [key],
  )
  return [text, change]
}

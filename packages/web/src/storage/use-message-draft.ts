/** What somebody has typed and not sent: kept by this browser for each person and session, so that looking elsewhere loses nothing. */
import type { SessionId } from '@holdpoint/protocol'
import { useCallback, useState } from 'react'
import { useGateway } from '../gateway/gateway-context.ts'

/** How the keys of all that this person has not sent start. */
export function messageDraftKeys(me: string): string {
  return `holdpoint.unsent.${JSON.stringify(me)}.`
}

function read(key: string): string {
  try {
    return localStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

function write(key: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    // A browser that keeps nothing: the text lives as long as the screen.
  }
}

export function useMessageDraft(id: SessionId): readonly [text: string, setText: (text: string) => void] {
  const { me } = useGateway()
  const key = messageDraftKeys(me) + id
  const [text, setText] = useState(() => read(key))
  const change = useCallback(
    (next: string) => {
      setText(next)
      write(key, next)
    },
    [key],
  )
  return [text, change]
}

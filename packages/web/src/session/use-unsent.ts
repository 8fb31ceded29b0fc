/** What somebody has typed and not sent: kept by this browser for each session, so that looking elsewhere loses nothing. */
import type { SessionId } from '@holdpoint/protocol'
import { useCallback, useState } from 'react'

const nameOf = (id: SessionId) => `holdpoint.unsent.${id}`

function read(id: SessionId): string {
  try {
    return localStorage.getItem(nameOf(id)) ?? ''
  } catch {
    return ''
  }
}

function write(id: SessionId, text: string): void {
  try {
    if (text === '') localStorage.removeItem(nameOf(id))
    else localStorage.setItem(nameOf(id), text)
  } catch {
    // A browser that keeps nothing: the text lives as long as the screen.
  }
}

export function useUnsent(id: SessionId): readonly [text: string, setText: (text: string) => void] {
  const [text, setText] = useState(() => read(id))
  const change = useCallback(
    (next: string) => {
      setText(next)
      write(id, next)
    },
    [id],
  )
  return [text, change]
}

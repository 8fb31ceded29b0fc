/** Where what is announced can be heard and, for a moment, read. */
import type { ReactNode } from 'react'
import { useAnnouncement } from '../habits/announce.ts'

export function Announcement(): ReactNode {
  const { words, shown, turn } = useAnnouncement()
  return (
    <div className={`announcement ${shown ? 'shown' : ''}`} role="status">
      <span key={turn}>{words}</span>
    </div>
  )
}

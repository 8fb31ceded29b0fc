/** Where what is announced can be heard and, for a moment, read. */
import type { ReactNode } from 'react'
import { useAnnouncement } from '../habits/announce.ts'

export function Announcement(): ReactNode {
  const words = useAnnouncement()
  return (
    <div className={`announcement ${words ? 'shown' : ''}`} role="status">
      {words}
    </div>
  )
}

/** Marks a session whose agent has said or finished something that the person has not seen. */
import type { ReactNode } from 'react'
import './unread-mark.css'

const unreadLabel = 'unread'

export function UnreadMark(): ReactNode {
  return (
    <span className="unread-mark" title={unreadLabel}>
      <span className="visually-hidden">{unreadLabel}</span>
    </span>
  )
}

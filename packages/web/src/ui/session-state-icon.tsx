/** An icon for the state of a session. Only the icon of a waiting session is animated. */
import type { ReactNode } from 'react'
import type { GroupName } from '../gateway/session-groups.ts'
import './session-state-icon.css'

export function SessionStateIcon({ group }: { readonly group: GroupName }): ReactNode {
  return <span className={`state-icon ${group}`} aria-hidden="true" />
}

/** How a session stands, as one small sign: a hand where it waits for a person, and nothing that moves besides. */
import type { ReactNode } from 'react'
import type { GroupName } from '../gateway/session-groups.ts'
import './session-state-icon.css'

export function SessionStateIcon({ group }: { readonly group: GroupName }): ReactNode {
  return <span className={`state-icon ${group}`} aria-hidden="true" />
}

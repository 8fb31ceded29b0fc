/** How a session stands, as one small sign: a hand where it waits for a person, and nothing that moves besides. */
import type { ReactNode } from 'react'
import type { GroupName } from './session-groups.ts'

export function Sign({ group }: { readonly group: GroupName }): ReactNode {
  return <span className={`state-sign ${group}`} aria-hidden="true" />
}

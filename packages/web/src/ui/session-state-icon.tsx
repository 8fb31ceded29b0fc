/** An icon for the state of a session. */
import CircleDashedIcon from 'lucide-react/icons/circle-dashed'
import CircleSmallIcon from 'lucide-react/icons/circle-small'
import CircleXIcon from 'lucide-react/icons/circle-x'
import HandIcon from 'lucide-react/icons/hand'
import MinusIcon from 'lucide-react/icons/minus'
import PauseIcon from 'lucide-react/icons/pause'
import UnplugIcon from 'lucide-react/icons/unplug'
import type { ReactNode } from 'react'
import type { GroupName } from '../gateway/session-groups.ts'
import './session-state-icon.css'

const icons = {
  waiting: HandIcon,
  failed: CircleXIcon,
  working: CircleDashedIcon,
  parked: PauseIcon,
  disconnected: UnplugIcon,
  idle: CircleSmallIcon,
  ended: MinusIcon,
} as const satisfies Record<GroupName, unknown>

export function SessionStateIcon({ group }: { readonly group: GroupName }): ReactNode {
  const Icon = icons[group]
  return <Icon className={`state-icon ${group}`} />
}

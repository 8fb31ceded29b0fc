/** In which mode the agent goes on once its plan is approved: it stands beside every yes that would send it. */
import { escapeInvisible } from '@holdpoint/protocol'
import { type ReactNode, useId } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { useDriver } from '../../gateway/use-driver.ts'
import type { ApprovalPanelProps } from './allow-button.tsx'
import { modeLabel } from './approval-text.ts'
import './plan-mode-select.css'

type IntoModeProps = Pick<ApprovalPanelProps, 'request' | 'ask' | 'hand' | 'drafting'>

export function PlanModeSelect({ request, ask, hand, drafting }: IntoModeProps): ReactNode {
  const driverName = useInboxPart(({ sessions }) => sessions.get(request.session)?.driver)
  const offered = useDriver(driverName)?.modes ?? []
  const known = ask.modes ?? offered
  const { mode } = drafting.draft
  const modes = mode === undefined || known.includes(mode) ? known : [...known, mode]
  const id = useId()
  if (ask.plan === undefined || modes.length === 0) return null
  return (
    <div className="plan-mode">
      <label className="soft small" htmlFor={id}>
        Then the agent
      </label>
      <select
        id={id}
        className="input"
        value={mode ?? ''}
        disabled={hand.held}
        onChange={event => drafting.change({ mode: event.target.value })}
      >
        <option value="">goes on as its own program decides</option>
        {modes.map(name => (
          <option key={name} value={name}>
            {escapeInvisible(modeLabel(name))}
          </option>
        ))}
      </select>
    </div>
  )
}

/** A select for the mode in which the agent continues after its plan is approved. Every panel that can approve a plan contains this select. */
import { exactText } from '@holdpoint/client'
import { type ReactNode, useId } from 'react'
import { useInboxPart, useMay } from '../../gateway/gateway-context.ts'
import { useDriver } from '../../gateway/use-driver.ts'
import { preventTypeAhead } from '../../shortcuts/type-ahead.ts'
import type { ApprovalPanelProps } from './allow-button.tsx'
import { modeLabel, panelTexts } from './texts.ts'
import './plan-mode-select.css'

type PlanModeSelectProps = Pick<ApprovalPanelProps, 'request' | 'ask' | 'submission' | 'cardDraft'>

export function PlanModeSelect({ request, ask, submission, cardDraft }: PlanModeSelectProps): ReactNode {
  const driverName = useInboxPart(({ sessions }) => sessions.get(request.session)?.driver)
  const driverModes = useDriver(driverName)?.modes ?? []
  const known = ask.modes ?? driverModes
  const { mode } = cardDraft.draft
  const modes = mode === undefined || known.includes(mode) ? known : [...known, mode]
  const mayChooseMode = useMay()('answer.mode')
  const id = useId()
  if (ask.plan === undefined || modes.length === 0 || !mayChooseMode) return null
  return (
    <div className="plan-mode">
      <label className="soft small" htmlFor={id}>
        {panelTexts.afterApproval}
      </label>
      <select
        id={id}
        className="input"
        value={mode ?? ''}
        disabled={submission.disabled}
        onKeyDown={preventTypeAhead}
        onChange={event => cardDraft.change({ mode: event.target.value })}
      >
        <option value="">{panelTexts.defaultMode}</option>
        {modes.map(name => (
          <option key={name} value={name}>
            {exactText(modeLabel(name))}
          </option>
        ))}
      </select>
    </div>
  )
}

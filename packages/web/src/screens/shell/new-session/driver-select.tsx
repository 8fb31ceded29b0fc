/** Lists the agents that can be started. For an agent that is not ready, says what is missing and what to do. */
import { driverLabel } from '@holdpoint/client'
import type { ReactNode } from 'react'
import { InlineAgentText } from '../../../text/agent-text.tsx'
import { newSessionTexts } from '../texts.ts'
import type { Driver } from './new-session-form.ts'
import './driver-select.css'

export interface DriverSelectProps {
  /** Null until the drivers are loaded. */
  readonly drivers: readonly Driver[] | null
  readonly chosen: string
  readonly problem?: string | undefined
  readonly onChoose: (name: string) => void
}

const notes: Readonly<Record<string, string>> = {
  rehearsal: newSessionTexts.rehearsal,
}

export function DriverSelect({ drivers, chosen, problem, onChoose }: DriverSelectProps): ReactNode {
  return (
    <fieldset className="drivers">
      <legend className="soft small">Agent</legend>
      {drivers?.length === 0 && <p className="problem">{newSessionTexts.noAgents}</p>}
      {drivers?.map(driver => (
        <label key={driver.name} className={`driver-choice ${driver.ready ? '' : 'missing'}`}>
          <input
            type="radio"
            name="driver"
            checked={driver.name === chosen}
            disabled={!driver.ready}
            onChange={() => onChoose(driver.name)}
          />
          <span>
            <InlineAgentText text={driverLabel(driver.name, driver.title)} className="driver-title" />
            {Object.hasOwn(notes, driver.name) && <span className="soft small driver-note">{notes[driver.name]}</span>}
            {!driver.ready && (
              <span className="soft small driver-note">
                {driver.missing === undefined ? newSessionTexts.notReady : <InlineAgentText text={driver.missing} />}
              </span>
            )}
          </span>
        </label>
      ))}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  )
}

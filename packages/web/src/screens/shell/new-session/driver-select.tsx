/** Lists the agents that can be started. For an agent that is not ready, says what is missing and what to do. */
import { driverLabel } from '@holdpoint/client'
import type { ReactNode } from 'react'
import { InlineAgentText } from '../../../text/agent-text.tsx'
import { DisclosureIcon } from '../../../ui/disclosure-icon.tsx'
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
  const choices = drivers?.filter(({ installed }) => installed !== false) ?? []
  const others = drivers?.filter(({ installed }) => installed === false) ?? []
  const choiceOf = (driver: Driver) => (
    <DriverChoice key={driver.name} driver={driver} isChosen={driver.name === chosen} onChoose={onChoose} />
  )
  return (
    <fieldset className="drivers">
      <legend className="soft small">Agent</legend>
      {drivers?.length === 0 && <p className="problem">{newSessionTexts.noAgents}</p>}
      {choices.map(choiceOf)}
      {others.length > 0 && (
        <details className="drivers-not-installed">
          <summary className="soft small">
            <DisclosureIcon /> {newSessionTexts.notInstalled(others.length)}
          </summary>
          {others.map(choiceOf)}
        </details>
      )}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  )
}

interface DriverChoiceProps {
  readonly driver: Driver
  readonly isChosen: boolean
  readonly onChoose: (name: string) => void
}

function DriverChoice({ driver, isChosen, onChoose }: DriverChoiceProps): ReactNode {
  const { name, title, ready, missing } = driver
  return (
    <label className={`driver-choice ${ready ? '' : 'missing'}`}>
      <input type="radio" name="driver" checked={isChosen} disabled={!ready} onChange={() => onChoose(name)} />
      <span>
        <InlineAgentText text={driverLabel(name, title)} className="driver-title" />
        {Object.hasOwn(notes, name) && <span className="soft small driver-note">{notes[name]}</span>}
        {!ready && (
          <span className="soft small driver-note">
            {missing === undefined ? newSessionTexts.notReady : <InlineAgentText text={missing} />}
          </span>
        )}
      </span>
    </label>
  )
}

/** The fields for the session's mode and model. If the agent can't change a setting at once, the change applies from the agent's next turn. */
import { exactText } from '@holdpoint/client'
import { limits, type Session } from '@holdpoint/protocol'
import { type ReactNode, useId, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive, useSessions } from '../../gateway/gateway-context.ts'
import { useDriver } from '../../gateway/use-driver.ts'
import { preventTypeAhead } from '../../shortcuts/type-ahead.ts'
import { defaultChoice } from './texts.ts'
import './session-settings.css'

export function SessionSettings({ session }: { readonly session: Session }): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const modes = useDriver(session.driver)?.modes ?? []
  const [problem, setProblem] = useState<string | null>(null)
  const disabled = !live || session.state === 'ended'
  const change = (setting: { mode: string } | { model: string }) => {
    setProblem(null)
    call('patchSession', { id: session.id, ...setting }).catch((error: unknown) => setProblem(errorMessage(error)))
  }
  return (
    <>
      {modes.length > 0 && (
        <ModeSwitch mode={session.mode} modes={modes} disabled={disabled} onMode={mode => change({ mode })} />
      )}
      {(modes.length > 0 || session.model !== null) && (
        <ModelField key={session.model} session={session} disabled={disabled} onModel={model => change({ model })} />
      )}
      {problem !== null && (
        <p className="problem" role="alert">
          The setting couldn’t be changed: {problem}
        </p>
      )}
    </>
  )
}

interface ModeSwitchProps {
  readonly mode: string | null
  readonly modes: readonly string[]
  readonly disabled: boolean
  readonly onMode: (mode: string) => void
}

function ModeSwitch({ mode, modes, disabled, onMode }: ModeSwitchProps): ReactNode {
  const known = mode === null || modes.includes(mode) ? modes : [mode, ...modes]
  return (
    <label className="setting">
      Mode
      <select
        value={mode ?? ''}
        disabled={disabled}
        onKeyDown={preventTypeAhead}
        onChange={event => onMode(event.target.value)}
      >
        {mode === null && <option value="">{defaultChoice}</option>}
        {known.map(name => (
          <option key={name} value={name}>
            {exactText(name)}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Aliases that the driver's CLI accepts for its newest models. */
const modelAliases: Readonly<Record<string, readonly string[]>> = { claude: ['default', 'opus', 'sonnet', 'haiku'] }

interface ModelFieldProps {
  readonly session: Session
  readonly disabled: boolean
  readonly onModel: (model: string) => void
}

function ModelField({ session, disabled, onModel }: ModelFieldProps): ReactNode {
  const sessions = useSessions()
  const list = useId()
  const [typed, setTyped] = useState(session.model ?? '')
  const used = [...sessions.values()].filter(({ driver }) => driver === session.driver).map(({ model }) => model)
  // The browser's list of suggestions shows no escapes, so names that need one are left out.
  const shown = used.filter(model => model !== null).filter(model => exactText(model) === model)
  const names = new Set([...(modelAliases[session.driver] ?? []), ...shown])
  const save = () => {
    const model = typed.trim()
    if (model !== '' && model !== session.model) onModel(model)
    else setTyped(session.model ?? '')
  }
  return (
    <label className="setting">
      Model
      <input
        className="stored-order"
        list={list}
        value={typed}
        placeholder={defaultChoice}
        maxLength={limits.nameMax}
        disabled={disabled}
        spellCheck={false}
        autoComplete="off"
        onChange={event => setTyped(event.target.value)}
        onBlur={save}
        onKeyDown={event => {
          // Ignore keys during an IME composition.
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Enter') event.currentTarget.blur()
          if (event.key === 'Escape') setTyped(session.model ?? '')
        }}
      />
      <datalist id={list}>
        {[...names].map(name => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  )
}

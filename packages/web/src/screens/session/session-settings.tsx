/** In which mode and with which model the agent works: both change at once where the agent can, else with its next turn. */
import { escapeInvisible, limits, type Session } from '@holdpoint/protocol'
import { type ReactNode, useId, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive, useSessions } from '../../gateway/gateway-context.ts'
import { useDriver } from '../../gateway/use-driver.ts'
import './session-settings.css'

export function SessionSettings({ session }: { readonly session: Session }): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const modes = useDriver(session.driver)?.modes ?? []
  const [problem, setProblem] = useState<string | null>(null)
  const held = !live || session.state === 'ended'
  const change = (what: { mode: string } | { model: string }) => {
    setProblem(null)
    call('patchSession', { id: session.id, ...what }).catch((error: unknown) => setProblem(errorMessage(error)))
  }
  return (
    <>
      {modes.length > 0 && (
        <ModeSwitch mode={session.mode} modes={modes} held={held} onMode={mode => change({ mode })} />
      )}
      {(modes.length > 0 || session.model !== null) && (
        <ModelField key={session.model} session={session} held={held} onModel={model => change({ model })} />
      )}
      {problem !== null && (
        <p className="problem" role="alert">
          Not changed: {problem}
        </p>
      )}
    </>
  )
}

interface ModeSwitchProps {
  readonly mode: string | null
  readonly modes: readonly string[]
  readonly held: boolean
  readonly onMode: (mode: string) => void
}

function ModeSwitch({ mode, modes, held, onMode }: ModeSwitchProps): ReactNode {
  const known = mode === null || modes.includes(mode) ? modes : [mode, ...modes]
  return (
    <label className="setting">
      Mode
      <select value={mode ?? ''} disabled={held} onChange={event => onMode(event.target.value)}>
        {mode === null && <option value="">its own</option>}
        {known.map(name => (
          <option key={name} value={name}>
            {escapeInvisible(name)}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Names that its CLI takes for whatever is newest of a kind. */
const usual: Readonly<Record<string, readonly string[]>> = { claude: ['default', 'opus', 'sonnet', 'haiku'] }

interface ModelFieldProps {
  readonly session: Session
  readonly held: boolean
  readonly onModel: (model: string) => void
}

function ModelField({ session, held, onModel }: ModelFieldProps): ReactNode {
  const sessions = useSessions()
  const list = useId()
  const [typed, setTyped] = useState(session.model ?? '')
  const seen = [...sessions.values()].filter(({ driver }) => driver === session.driver).map(({ model }) => model)
  const names = new Set([...(usual[session.driver] ?? []), ...seen.filter(model => model !== null)])
  const save = () => {
    const wanted = typed.trim()
    if (wanted !== '' && wanted !== session.model) onModel(wanted)
    else setTyped(session.model ?? '')
  }
  return (
    <label className="setting">
      Model
      <input
        list={list}
        value={typed}
        placeholder="its own"
        maxLength={limits.nameMax}
        disabled={held}
        spellCheck={false}
        autoComplete="off"
        onChange={event => setTyped(event.target.value)}
        onBlur={save}
        onKeyDown={event => {
          // Whoever composes a sign ends that, and nothing else.
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

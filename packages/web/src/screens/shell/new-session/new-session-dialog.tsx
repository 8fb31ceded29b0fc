/** Starts a session: which agent, in which folder, in which mode, with which first words. */
import { escapeInvisible } from '@holdpoint/protocol'
import { type ReactNode, type SyntheticEvent, useEffect, useMemo, useState } from 'react'
import { errorMessage } from '../../../gateway/error-message.ts'
import { useGateway, useSessions } from '../../../gateway/gateway-context.ts'
import { modeLabel } from '../../../request/approval/texts.ts'
import { go } from '../../../routes.ts'
import { readPreference, writePreference } from '../../../storage/preferences.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { DriverSelect } from './driver-select.tsx'
import { readDefaults, writeDefaults } from './new-session-defaults.ts'
import {
  type Driver,
  inputOf,
  type NewSessionFields,
  offeredDrivers,
  type Problems,
  problemsOf,
  recentFolders,
} from './new-session-form.ts'
import './new-session-dialog.css'

/** A mode that nobody has chosen here is the one that was chosen last. */
type Filling = Omit<NewSessionFields, 'mode'> & { readonly mode: string | null }

/** What was typed here and not sent, as long as the page lives: a click beside the dialog is no reason to lose it. */
let unsent: Filling | null = null

export function NewSessionDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { call } = useGateway()
  const [last] = useState(() => readDefaults(readPreference('start')))
  const [filling, setFilling] = useState<Filling>(
    () => unsent ?? { driver: '', cwd: last.cwd, mode: null, model: '', prompt: '' },
  )
  useEffect(() => {
    unsent = filling
  }, [filling])
  const leave = () => {
    unsent = null
    onClose()
  }
  const [problems, setProblems] = useState<Problems>({})
  const [sending, setSending] = useState(false)
  const { drivers, trouble } = useDrivers()
  const problem = problems.all ?? trouble
  const ready =
    drivers?.find(({ name }) => name === filling.driver) ??
    drivers?.find(driver => driver.ready && driver.name === last.driver) ??
    drivers?.find(driver => driver.ready)
  const lastMode = ready?.modes.find(mode => mode === last.modes[ready.name]) ?? ''
  const fields: NewSessionFields = { ...filling, driver: ready?.name ?? '', mode: filling.mode ?? lastMode }
  // Whoever has begun has seen which agent is chosen: one that comes later does not take its place.
  const set = (change: Partial<Filling>) =>
    setFilling(before => ({ ...before, driver: before.driver || (ready?.name ?? ''), ...change }))
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (!ready || sending) return
    setSending(true)
    try {
      const session = await call('startSession', inputOf(fields))
      writePreference('start', writeDefaults(last, fields))
      leave()
      go({ screen: 'session', id: session.id })
    } catch (error) {
      setProblems(problemsOf(error))
      setSending(false)
    }
  }
  return (
    <Dialog label="New session" className="new-session" onClose={onClose}>
      <form className="new-session-form" onSubmit={event => void submit(event)}>
        <h1>New session</h1>
        <DriverSelect
          drivers={drivers}
          chosen={fields.driver}
          problem={problems.driver}
          onChoose={driver => set({ driver, mode: null })}
        />
        <StartDetails fields={fields} modes={ready?.modes ?? []} problems={problems} onChange={set} />
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={leave}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={!ready?.ready || sending}>
            {sending ? 'Starting…' : 'Start session'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface DetailsProps {
  readonly fields: NewSessionFields
  readonly modes: readonly string[]
  readonly problems: Problems
  readonly onChange: (change: Partial<NewSessionFields>) => void
}

function StartDetails({ fields, modes, problems, onChange }: DetailsProps): ReactNode {
  const sessions = useSessions()
  const folders = useMemo(() => recentFolders(sessions.values()), [sessions])
  return (
    <>
      <Field label="Folder" hint="Left empty: the folder the gateway was started in." problem={problems.cwd}>
        {ids => (
          <>
            <input
              {...ids}
              className="input code"
              list="recent-folders"
              spellCheck={false}
              autoCapitalize="off"
              value={fields.cwd}
              onChange={event => onChange({ cwd: event.target.value })}
            />
            <datalist id="recent-folders">
              {folders.map(folder => (
                <option key={folder} value={folder} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <div className="new-session-pair">
        <Field label="Mode" problem={problems.mode}>
          {ids => (
            <select
              {...ids}
              className="input"
              value={fields.mode}
              disabled={modes.length === 0}
              onChange={event => onChange({ mode: event.target.value })}
            >
              <option value="">As the agent starts by itself</option>
              {modes.map(mode => (
                <option key={mode} value={mode}>
                  {escapeInvisible(modeLabel(mode))}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Model" problem={problems.model}>
          {ids => (
            <input
              {...ids}
              className="input"
              placeholder="The agent’s own choice"
              spellCheck={false}
              value={fields.model}
              onChange={event => onChange({ model: event.target.value })}
            />
          )}
        </Field>
      </div>
      <Field label="First message" problem={problems.prompt}>
        {ids => (
          <textarea
            {...ids}
            className="input"
            rows={4}
            data-first
            placeholder="What should it do?"
            value={fields.prompt}
            onChange={event => onChange({ prompt: event.target.value })}
          />
        )}
      </Field>
    </>
  )
}

const lookAgainMs = 1000

interface Offer {
  /** Null until they are known. */
  readonly drivers: readonly Driver[] | null
  /** Why they cannot be known right now. */
  readonly trouble: string | null
}

/** A runner that has just begun, or a sign-in that was missing, shows while the dialog is open. */
function useDrivers(): Offer {
  const { call } = useGateway()
  const [offer, setOffer] = useState<Offer>({ drivers: null, trouble: null })
  useEffect(() => {
    const over = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      try {
        const { items } = await call('listDrivers', {}, { signal: over.signal })
        setOffer({ drivers: offeredDrivers(items), trouble: null })
      } catch (error) {
        setOffer(before => ({ ...before, trouble: errorMessage(error) }))
      }
      if (!over.signal.aborted) timer = setTimeout(look, lookAgainMs)
    }
    void look()
    return () => {
      over.abort()
      clearTimeout(timer)
    }
  }, [call])
  return offer
}

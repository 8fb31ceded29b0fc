/** The New session dialog: agent, folder, mode, model and first message. */
import { exactText } from '@holdpoint/client'
import { type ReactNode, type SyntheticEvent, useEffect, useMemo, useState } from 'react'
import { errorMessage } from '../../../gateway/error-message.ts'
import { useGateway, useSessions } from '../../../gateway/gateway-context.ts'
import { modeLabel } from '../../../request/approval/texts.ts'
import { go } from '../../../routes.ts'
import { readPreference, writePreference } from '../../../storage/preferences.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { newSessionTexts } from '../texts.ts'
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

/** The state of the form. If the mode is null, the form uses the mode of the last session with the same driver. */
type FormState = Omit<NewSessionFields, 'mode'> & { readonly mode: string | null }

/** The unsent form. It is stored outside the component, so that a click outside the dialog does not lose the text. */
let unsent: FormState | null = null

export function NewSessionDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { call } = useGateway()
  const [last] = useState(() => readDefaults(readPreference('start')))
  const [form, setForm] = useState<FormState>(
    () => unsent ?? { driver: '', cwd: last.cwd, mode: null, model: '', prompt: '' },
  )
  useEffect(() => {
    unsent = form
  }, [form])
  const discard = () => {
    unsent = null
    onClose()
  }
  const [problems, setProblems] = useState<Problems>({})
  const [sending, setSending] = useState(false)
  const { drivers, loadProblem } = useDrivers()
  const problem = problems.all ?? loadProblem
  const driver =
    drivers?.find(({ name }) => name === form.driver) ??
    drivers?.find(({ ready, name }) => ready && name === last.driver) ??
    drivers?.find(({ ready }) => ready)
  const lastMode = driver?.modes.find(mode => mode === last.modes[driver.name]) ?? ''
  const fields: NewSessionFields = { ...form, driver: driver?.name ?? '', mode: form.mode ?? lastMode }
  // The first edit fixes the preselected agent, so that another agent that becomes ready later does not replace it.
  const set = (change: Partial<FormState>) =>
    setForm(before => ({ ...before, driver: before.driver || (driver?.name ?? ''), ...change }))
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (!driver || sending) return
    setSending(true)
    try {
      const session = await call('startSession', inputOf(fields))
      writePreference('start', writeDefaults(last, fields))
      discard()
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
          onChoose={name => set({ driver: name, mode: null })}
        />
        <Details fields={fields} modes={driver?.modes ?? []} problems={problems} onChange={set} />
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={discard}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={!driver?.ready || sending}>
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

function Details({ fields, modes, problems, onChange }: DetailsProps): ReactNode {
  return (
    <>
      <FolderField value={fields.cwd} problem={problems.cwd} onChange={cwd => onChange({ cwd })} />
      <div className="new-session-pair">
        <ModeField value={fields.mode} modes={modes} problem={problems.mode} onChange={mode => onChange({ mode })} />
        <Field label="Model" problem={problems.model}>
          {ids => (
            <input
              {...ids}
              className="input"
              placeholder={newSessionTexts.defaultChoice}
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
            placeholder={newSessionTexts.promptPlaceholder}
            value={fields.prompt}
            onChange={event => onChange({ prompt: event.target.value })}
          />
        )}
      </Field>
    </>
  )
}

interface TextFieldProps {
  readonly value: string
  readonly problem: string | undefined
  readonly onChange: (value: string) => void
}

function FolderField({ value, problem, onChange }: TextFieldProps): ReactNode {
  const sessions = useSessions()
  const folders = useMemo(() => recentFolders(sessions.values()), [sessions])
  return (
    <Field label="Folder" hint={newSessionTexts.folderHint} problem={problem}>
      {ids => (
        <>
          <input
            {...ids}
            className="input code stored-order"
            list="recent-folders"
            spellCheck={false}
            autoCapitalize="off"
            value={value}
            onChange={event => onChange(event.target.value)}
          />
          <datalist id="recent-folders">
            {folders.map(folder => (
              <option key={folder} value={folder} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

function ModeField({
  value,
  modes,
  problem,
  onChange,
}: TextFieldProps & { readonly modes: readonly string[] }): ReactNode {
  return (
    <Field label="Mode" problem={problem}>
      {ids => (
        <select
          {...ids}
          className="input"
          value={value}
          disabled={modes.length === 0}
          onChange={event => onChange(event.target.value)}
        >
          <option value="">{newSessionTexts.defaultChoice}</option>
          {modes.map(mode => (
            <option key={mode} value={mode}>
              {exactText(modeLabel(mode))}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

const pollMs = 1000

interface DriverList {
  /** Null until the drivers are loaded. */
  readonly drivers: readonly Driver[] | null
  /** The reason why the last attempt to load the drivers failed. */
  readonly loadProblem: string | null
}

/** Polls the list of drivers, so that the open dialog notices a new runner or a completed sign-in. */
function useDrivers(): DriverList {
  const { call } = useGateway()
  const [list, setList] = useState<DriverList>({ drivers: null, loadProblem: null })
  useEffect(() => {
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const poll = async () => {
      try {
        const { items } = await call('listDrivers', {}, { signal: controller.signal })
        setList({ drivers: offeredDrivers(items), loadProblem: null })
      } catch (error) {
        setList(before => ({ ...before, loadProblem: errorMessage(error) }))
      }
      if (!controller.signal.aborted) timer = setTimeout(poll, pollMs)
    }
    void poll()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [call])
  return list
}

/** The New session dialog: agent, folder, mode, model and first message. */
import { driverLabel, exactText, labelText } from '@holdpoint/client'
import type { Call, Session } from '@holdpoint/protocol'
import { type ReactNode, type SyntheticEvent, useEffect, useMemo, useState } from 'react'
import { useGateway, useSessions } from '../../../gateway/gateway-context.ts'
import { modeLabel } from '../../../request/approval/texts.ts'
import { SendHint } from '../../../request/send-key.tsx'
import { go } from '../../../routes.ts'
import { readPreference, writePreference } from '../../../storage/preferences.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { submitByKey } from '../../../ui/submit-by-key.ts'
import { newSessionTexts } from '../texts.ts'
import { DriverSelect } from './driver-select.tsx'
import { checkFolder, useFolderProblem } from './folder-check.ts'
import { readDefaults, writeDefaults } from './new-session-defaults.ts'
import {
  type Driver,
  defaultPrompt,
  inputOf,
  type NewSessionFields,
  type Problems,
  problemsOf,
  recentFolders,
} from './new-session-form.ts'
import { useOfferedDrivers } from './use-offered-drivers.ts'
import './new-session-dialog.css'

/** The state of the form. If the mode is null, the form uses the mode of the last session with the same driver. */
type FormState = Omit<NewSessionFields, 'mode'> & { readonly mode: string | null }

/** The unsent form. It is stored outside the component, so that a click outside the dialog does not lose the text. */
let unsent: FormState | null = null

export interface NewSessionDialogProps {
  /** The agent to preselect. */
  readonly driver?: string | undefined
  readonly onClose: () => void
}

export function NewSessionDialog({ driver: wanted, onClose }: NewSessionDialogProps): ReactNode {
  const { call } = useGateway()
  const [last] = useState(() => readDefaults(readPreference('start')))
  const [form, setForm] = useState<FormState>(() => ({
    ...(unsent ?? { driver: '', cwd: last.cwd, mode: null, model: '', prompt: '' }),
    ...(wanted !== undefined && { driver: wanted, mode: null }),
  }))
  useEffect(() => {
    unsent = form
  }, [form])
  const discard = () => {
    unsent = null
    onClose()
  }
  const [problems, setProblems] = useState<Problems>({})
  const [sending, setSending] = useState(false)
  const { drivers, loadProblem } = useOfferedDrivers()
  const problem = problems.all ?? loadProblem
  const driver =
    drivers?.find(({ name }) => name === form.driver) ??
    drivers?.find(({ ready, name }) => ready && name === last.driver) ??
    drivers?.find(({ ready }) => ready)
  const lastMode = driver?.modes.find(mode => mode === last.modes[driver.name]) ?? ''
  const fields: NewSessionFields = { ...form, driver: driver?.name ?? '', mode: form.mode ?? lastMode }
  // The first edit fixes the preselected agent, so that another agent that becomes ready later does not replace it.
  const set = (change: Partial<FormState>) => {
    setForm(before => ({ ...before, driver: before.driver || (driver?.name ?? ''), ...change }))
    if (change.cwd !== undefined) setProblems(({ cwd: _, ...others }) => others)
  }
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (!driver?.ready || sending) return
    setSending(true)
    const started = await start(call, driver.runner, fields)
    setSending(false)
    if ('problems' in started) return setProblems(started.problems)
    writePreference('start', writeDefaults(last, fields))
    discard()
    go({ screen: 'session', id: started.session.id })
  }
  return (
    <Dialog label="New session" className="new-session" onClose={onClose}>
      <form className="new-session-form" onKeyDown={submitByKey} onSubmit={event => void submit(event)}>
        <h1>New session</h1>
        <DriverSelect
          drivers={drivers}
          chosen={fields.driver}
          problem={problems.driver}
          onChoose={name => set({ driver: name, mode: null })}
        />
        <Details fields={fields} driver={driver} problems={problems} onChange={set} />
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div className="dialog-actions">
          <SendHint send={driver?.ready && !sending ? submit : null} does={newSessionTexts.keyStarts} />
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

/** Starts a session in a folder that was checked. */
async function start(
  call: Call,
  runner: Driver['runner'],
  fields: NewSessionFields,
): Promise<{ readonly session: Session } | { readonly problems: Problems }> {
  const cwd = await checkFolder(call, runner, fields.cwd)
  if (cwd !== null) return { problems: { cwd } }
  return call('startSession', inputOf(fields)).then(
    session => ({ session }),
    (error: unknown) => ({ problems: problemsOf(error) }),
  )
}

interface DetailsProps {
  readonly fields: NewSessionFields
  readonly driver: Driver | undefined
  readonly problems: Problems
  readonly onChange: (change: Partial<NewSessionFields>) => void
}

function Details({ fields, driver, problems, onChange }: DetailsProps): ReactNode {
  const modes = driver?.modes ?? []
  const defaultChoice = driver ? newSessionTexts.defaultOf(labelText(driverLabel(driver.name, driver.title))) : ''
  const folderProblem = useFolderProblem(driver?.runner ?? null, fields.cwd)
  return (
    <>
      <FolderField
        value={fields.cwd}
        problem={problems.cwd ?? folderProblem ?? undefined}
        onChange={cwd => onChange({ cwd })}
      />
      <div className="new-session-pair">
        <ModeField
          value={fields.mode}
          {...{ modes, defaultChoice }}
          problem={problems.mode}
          onChange={mode => onChange({ mode })}
        />
        <Field label="Model" problem={problems.model}>
          {ids => (
            <input
              {...ids}
              className="input"
              placeholder={defaultChoice}
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
            placeholder={defaultPrompt(fields.driver) || newSessionTexts.promptPlaceholder}
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
  defaultChoice,
  problem,
  onChange,
}: TextFieldProps & { readonly modes: readonly string[]; readonly defaultChoice: string }): ReactNode {
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
          <option value="">{defaultChoice}</option>
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

/** The first screen of an empty gateway. It offers four ways to the first answer: a rehearsal, a session with an agent that is installed here, Claude Code in the person's own terminal, or a script. */
import { driverLabel } from '@holdpoint/client'
import CheckIcon from 'lucide-react/icons/check'
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../../gateway/error-message.ts'
import { useGateway } from '../../../gateway/gateway-context.ts'
import { InlineAgentText } from '../../../text/agent-text.tsx'
import { HighlightedCode } from '../../../text/highlight.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import type { Driver } from '../../shell/new-session/new-session-form.ts'
import { useOfferedDrivers } from '../../shell/new-session/use-offered-drivers.ts'
import { openDialog, openNewSession } from '../../shell/open-dialog.ts'
import { startRehearsal } from '../../shell/rehearsal.ts'
import { firstUseTexts } from './texts.ts'
import './first-use.css'

export interface FirstUseProps {
  /** Whether a rehearsal was started already. */
  readonly hasRehearsed: boolean
}

export function FirstUse({ hasRehearsed }: FirstUseProps): ReactNode {
  return (
    <div className="first-use">
      <h1>{firstUseTexts.title}</h1>
      <p className="soft">{firstUseTexts.introduction}</p>
      <ol className="first-steps">
        <Rehearse hasRehearsed={hasRehearsed} />
        <StartAgent />
        <ConnectTerminal />
        <ConnectScript />
      </ol>
    </div>
  )
}

function Rehearse({ hasRehearsed }: FirstUseProps): ReactNode {
  const { call } = useGateway()
  const [problem, setProblem] = useState('')
  const [starting, setStarting] = useState(false)
  const texts = firstUseTexts.rehearse
  const start = () => {
    setStarting(true)
    startRehearsal(call).catch((error: unknown) => {
      setStarting(false)
      setProblem(errorMessage(error))
    })
  }
  return (
    <li className={`first-step ${hasRehearsed ? 'done' : ''}`}>
      <h2>
        {texts.title}
        {hasRehearsed && (
          <span className="first-step-done">
            {' '}
            <CheckIcon /> {texts.done}
          </span>
        )}
      </h2>
      <p className="soft">{texts.text}</p>
      <div className="first-step-actions">
        <button type="button" className={`button ${hasRehearsed ? '' : 'primary'}`} disabled={starting} onClick={start}>
          {starting ? texts.starting : hasRehearsed ? texts.again : texts.start}
        </button>
      </div>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </li>
  )
}

function StartAgent(): ReactNode {
  const { drivers } = useOfferedDrivers()
  const texts = firstUseTexts.agent
  const installed = drivers?.filter(({ name, installed: isHere }) => name !== 'rehearsal' && isHere !== false) ?? []
  const ready = installed.filter(driver => driver.ready)
  const state =
    drivers === null
      ? texts.loading
      : ready.length > 0
        ? texts.text
        : installed.length > 0
          ? texts.notReady
          : texts.none
  return (
    <li className="first-step">
      <h2>{texts.title}</h2>
      <p className="soft">{state}</p>
      {ready.length === 0 && <Missing drivers={installed} />}
      <div className="first-step-actions">
        {ready.map(({ name, title }) => (
          <button key={name} type="button" className="button" onClick={() => openNewSession(name)}>
            <InlineAgentText text={driverLabel(name, title)} />
          </button>
        ))}
        <button type="button" className="button plain" onClick={() => openDialog('start')}>
          {texts.all}
        </button>
      </div>
    </li>
  )
}

/** Says what installed agents need before they can start. */
function Missing({ drivers }: { readonly drivers: readonly Driver[] }): ReactNode {
  return (
    <ul className="first-step-missing small soft">
      {drivers.map(({ name, title, missing }) => (
        <li key={name}>
          <InlineAgentText text={driverLabel(name, title)} />:{' '}
          {missing === undefined ? firstUseTexts.agent.noReason : <InlineAgentText text={missing} />}
        </li>
      ))}
    </ul>
  )
}

function ConnectTerminal(): ReactNode {
  const texts = firstUseTexts.terminal
  return (
    <li className="first-step">
      <h2>{texts.title}</h2>
      <p className="soft">{texts.text}</p>
      <Command text={texts.command} />
    </li>
  )
}

function ConnectScript(): ReactNode {
  const texts = firstUseTexts.script
  return (
    <li className="first-step">
      <h2>{texts.title}</h2>
      <p className="soft">{texts.text}</p>
      <Command text={texts.command} />
      <p className="soft">{texts.guardText}</p>
      <Command text={texts.guard} />
    </li>
  )
}

function Command({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="first-step-command">
      <code>
        <HighlightedCode text={text} lang="bash" kind="command" />
      </code>
      <CopyButton text={text} />
    </div>
  )
}

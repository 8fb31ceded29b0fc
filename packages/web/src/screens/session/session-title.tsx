/** The session's title. A click turns the title into a text field, in which Enter saves and Escape cancels. */
import { sessionName } from '@holdpoint/client'
import { limits, type Session } from '@holdpoint/protocol'
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { useScreenActions } from '../../shortcuts/screen-actions.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { ExactValue } from '../../text/exact-value.tsx'
import './session-title.css'

export function SessionTitle({ session }: { readonly session: Session }): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const [typed, setTyped] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const name = sessionName(session)
  useScreenActions({ rename: live ? () => setTyped(session.title) : undefined })
  const save = () => {
    const title = typed?.trim() ?? ''
    setTyped(null)
    if (title === '' || title === session.title) return
    setProblem(null)
    call('patchSession', { id: session.id, title }).catch((error: unknown) => setProblem(errorMessage(error)))
  }
  if (typed === null)
    return (
      <>
        <h1 className="header-title">
          <button type="button" disabled={!live} title="Change the title" onClick={() => setTyped(session.title)}>
            <InlineAgentText text={name} oneLine />
          </button>
        </h1>
        {problem !== null && (
          <p className="problem" role="alert">
            The title couldn’t be changed: {problem}
          </p>
        )}
      </>
    )
  return (
    <>
      <input
        className="input header-title-field"
        dir="auto"
        aria-label="Title"
        maxLength={limits.titleMax}
        value={typed}
        // biome-ignore lint/a11y/noAutofocus: the field replaces the title that the person clicked
        autoFocus
        onFocus={event => event.target.select()}
        onChange={event => setTyped(event.target.value)}
        onBlur={save}
        onKeyDown={event => {
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Enter') save()
          if (event.key === 'Escape') setTyped(null)
        }}
      />
      <ExactValue value={typed} isOneLine={false} />
    </>
  )
}

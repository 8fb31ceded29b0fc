/** The session's name, which is changed where it stands: a click, the new words, Enter. Escape leaves it as it was. */
import { sessionName } from '@holdpoint/client'
import { limits, type Session } from '@holdpoint/protocol'
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import './session-title.css'

export function SessionTitle({ session }: { readonly session: Session }): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const [typed, setTyped] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const title = sessionName(session)
  const save = () => {
    const wanted = typed?.trim() ?? ''
    setTyped(null)
    if (wanted === '' || wanted === session.title) return
    setProblem(null)
    call('patchSession', { id: session.id, title: wanted }).catch((error: unknown) => setProblem(errorMessage(error)))
  }
  if (typed === null)
    return (
      <>
        <h1 className="header-title">
          <button type="button" disabled={!live} title="Change the title" onClick={() => setTyped(session.title)}>
            <InlineAgentText text={title} />
          </button>
        </h1>
        {problem !== null && (
          <p className="problem" role="alert">
            The title was not changed: {problem}
          </p>
        )}
      </>
    )
  return (
    <input
      className="input header-title-field"
      aria-label="Title"
      maxLength={limits.titleMax}
      value={typed}
      // biome-ignore lint/a11y/noAutofocus: it stands where the title was clicked
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
  )
}

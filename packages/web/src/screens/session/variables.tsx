/** The variables of a session, which people can change, and the watchers that apply to it. Nothing is shown in a session without watchers. */
import { parseValue, timeSince, valueText, watcherLabel } from '@holdpoint/client'
import type { Event, Session, SessionId, Variable, Watcher } from '@holdpoint/protocol'
import { type ReactNode, type SubmitEvent, useCallback, useId, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useGatewayTime, useLive, useMay } from '../../gateway/gateway-context.ts'
import { useReloaded } from '../../gateway/use-reloaded.ts'
import { ExactText, InlineAgentText } from '../../text/agent-text.tsx'
import { Path } from '../../text/path.tsx'
import { variableTexts as texts } from './texts.ts'
import './variables.css'

export function SessionWatchers({ session: { id } }: { readonly session: Session }): ReactNode {
  const { call } = useGateway()
  const load = useCallback(
    async (signal: AbortSignal) => {
      const [variables, watchers] = await Promise.all([
        call('listVariables', { id }, { signal }),
        call('listWatchers', { session: id }, { signal }),
      ])
      return { variables: variables.items, watchers: watchers.items }
    },
    [call, id],
  )
  const changes = useCallback((event: Event) => changesVariables(event, id), [id])
  const { value, problem } = useReloaded(load, changes)
  if (problem !== null)
    return (
      <p className="problem" role="alert">
        {texts.loadFailed} {errorMessage(problem)}
      </p>
    )
  if (!value || value.watchers.length + value.variables.length === 0) return null
  return (
    <>
      {value.variables.length > 0 && (
        <>
          <h2 className="section-heading">{texts.variables}</h2>
          <ul className="variables">
            {value.variables.map(variable => (
              <VariableRow key={`${variable.source.file} ${variable.name}`} {...{ id, variable }} />
            ))}
          </ul>
        </>
      )}
      <h2 className="section-heading">{texts.watchers(value.watchers.length)}</h2>
      <ul className="session-watchers">
        {value.watchers.map(watcher => (
          <WatcherRow key={`${watcher.source.file} ${watcher.name}`} watcher={watcher} />
        ))}
      </ul>
    </>
  )
}

/** Returns whether an event may change the variables or the watchers of a session. Rules and watchers come from the same files. */
function changesVariables(event: Event, session: SessionId): boolean {
  switch (event.type) {
    case 'watch.fired':
    case 'variable.changed':
    case 'turn.finished':
      return event.session === session
    case 'rule.added':
    case 'rule.changed':
    case 'rule.removed':
      return true
    default:
      return false
  }
}

interface VariableRowProps {
  readonly id: SessionId
  readonly variable: Variable
}

function VariableRow({ id, variable }: VariableRowProps): ReactNode {
  const [isEditing, setEditing] = useState(false)
  const mayChange = useMay()('setVariable')
  const now = useGatewayTime(10_000)
  const { name, value, note, changedAt, changedBy, source } = variable
  return (
    <li className="variable">
      <span className="variable-name mono" title={source.file}>
        {name}
      </span>
      {isEditing ? (
        <VariableField {...{ id, variable }} onEnd={() => setEditing(false)} />
      ) : (
        <>
          <ExactText text={valueText(value)} className="variable-value mono" />
          {mayChange && (
            <button
              type="button"
              className="text-button"
              aria-label={texts.changeOf(name)}
              onClick={() => setEditing(true)}
            >
              {texts.change}
            </button>
          )}
        </>
      )}
      <span className="variable-facts">
        {note !== undefined && <InlineAgentText text={note} />}
        {changedBy !== undefined && changedAt !== undefined && (
          <span>
            {texts.setBy} <InlineAgentText text={changedBy} /> {texts.ago(timeSince(changedAt, now))}
          </span>
        )}
      </span>
    </li>
  )
}

function VariableField({ id, variable, onEnd }: VariableRowProps & { readonly onEnd: () => void }): ReactNode {
  const { name, value, default: like, source } = variable
  const { call } = useGateway()
  const live = useLive()
  const [typed, setTyped] = useState(typeof value === 'string' ? value : valueText(value))
  const [problem, setProblem] = useState<string | null>(null)
  const problemId = useId()
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    const parsed = parseValue(typed, like)
    if (parsed === null) return setProblem(texts.wrongType[typeof like === 'boolean' ? 'boolean' : 'number'])
    try {
      await call('setVariable', { id, name, value: parsed, file: source.file })
      onEnd()
    } catch (error) {
      setProblem(errorMessage(error))
    }
  }
  return (
    <form className="variable-field" onSubmit={event => void save(event)}>
      <input
        className="input mono"
        aria-label={texts.valueOf(name)}
        aria-invalid={problem !== null}
        aria-describedby={problemId}
        // biome-ignore lint/a11y/noAutofocus: the person has just asked to change this value
        autoFocus
        value={typed}
        onChange={event => setTyped(event.target.value)}
        onKeyDown={event => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          onEnd()
        }}
      />
      <button type="submit" className="button" disabled={!live}>
        {texts.save}
      </button>
      <button type="button" className="button plain" onClick={onEnd}>
        {texts.cancel}
      </button>
      <p id={problemId} className="problem small" role="alert">
        {problem}
      </p>
    </form>
  )
}

function WatcherRow({ watcher }: { readonly watcher: Watcher }): ReactNode {
  const { name, note, source, gaps = [] } = watcher
  return (
    <li className="watcher">
      <span className="mono">{name}</span> <span className="soft">{watcherLabel(watcher)}</span>
      {note !== undefined && (
        <p className="small soft">
          <InlineAgentText text={note} />
        </p>
      )}
      <p className="small faint">
        <Path path={source.file} className="mono" />
        {!source.trusted && ` ${texts.notTrusted}`}
      </p>
      {gaps.map(gap => (
        <p key={gap} className="small watcher-gap">
          {gap}
        </p>
      ))}
    </li>
  )
}

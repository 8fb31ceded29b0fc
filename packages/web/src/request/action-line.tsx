/** The first line of a card: what is to be done, with what, and in which folder. */
import { actionLabel, knownAction, toolName } from '@holdpoint/client'
import { type ApprovalAsk, escapeInvisible, type Request } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { useInboxPart } from '../gateway/gateway-context.ts'
import { InlineAgentText } from '../text/agent-text.tsx'
import { noAnswerLabel } from './deadline-labels.ts'
import './action-line.css'

export interface ActionLineProps {
  readonly request: Request
  /** Who asks stands above it, with the session's folder. */
  readonly named: boolean
}

export function ActionLine({ request, named }: ActionLineProps): ReactNode {
  const { ask } = request
  const folder = useInboxPart(({ sessions }) => sessions.get(request.session)?.cwd)
  const silence = noAnswerLabel(request)
  const where = ask.kind === 'approval' ? ask.cwd : ''
  const said = isLongFolder(where) || (named && where === folder)
  return (
    <div className="action-line">
      {ask.kind === 'approval' ? <ApprovalDeed ask={ask} /> : <h3>{actionLabel(ask)}</h3>}
      {where !== '' && !said && (
        <span className="folder soft small">
          in <InlineAgentText text={where} className="mono" />
        </span>
      )}
      {silence && <p className="deadline-note soft small">{silence}</p>}
    </div>
  )
}

const lineMax = 48

/** One that has no room in a line: where something would run must be there to read, whole, so it stands with what would. */
export function isLongFolder(cwd: string): boolean {
  return cwd.length > lineMax
}

function ApprovalDeed({ ask }: { readonly ask: ApprovalAsk }): ReactNode {
  const { name, server } = toolName(ask.tool)
  if (ask.plan !== undefined || knownAction(ask.tool) !== null)
    return (
      <>
        <h3>{actionLabel(ask)}</h3>
        {ask.plan === undefined && <InlineAgentText text={ask.tool} className="faint small" />}
      </>
    )
  return (
    <h3 title={escapeInvisible(ask.tool)}>
      {server === null ? (
        <>
          Use <InlineAgentText text={name} />
        </>
      ) : (
        <>
          <InlineAgentText text={server} />: <InlineAgentText text={name} />{' '}
          <span className="action-source">(MCP)</span>
        </>
      )}
    </h3>
  )
}

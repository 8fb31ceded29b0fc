/** The first lines of a card: the action, the tool, the working folder and the risk. */
import { actionLabel, knownAction, shownRisk, toolName } from '@holdpoint/client'
import type { ApprovalAsk, Request } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { useInboxPart } from '../gateway/gateway-context.ts'
import { ExactText } from '../text/agent-text.tsx'
import { CodeWarnings } from '../text/text-warnings.tsx'
import { noAnswerLabel } from './deadline-labels.ts'
import { RiskLine } from './risk.tsx'
import './action-line.css'

export interface ActionLineProps {
  readonly request: Request
  /** What is at the end of the first line. */
  readonly children?: ReactNode
}

export function ActionLine({ request, children }: ActionLineProps): ReactNode {
  const { ask } = request
  const folder = useInboxPart(({ sessions }) => sessions.get(request.session)?.cwd)
  const noAnswer = noAnswerLabel(request)
  const cwd = ask.kind === 'approval' ? ask.cwd : ''
  // The header of the card or of the screen shows the folder of the session.
  const shownElsewhere = isLongFolder(cwd) || cwd === folder
  return (
    <div className="action-line">
      {ask.kind === 'approval' ? <ApprovalAction ask={ask} /> : <h3>{actionLabel(ask)}</h3>}
      {children}
      {cwd !== '' && !shownElsewhere && (
        <span className="folder soft small">
          in <ExactText text={cwd} className="mono" />
        </span>
      )}
      <RiskLine risk={shownRisk(request)} />
      {ask.kind === 'approval' && <CodeWarnings text={`${ask.tool}\n${cwd}`} />}
      {noAnswer && <p className="deadline-note soft small">{noAnswer}</p>}
    </div>
  )
}

const inlineFolderMax = 48

/** Returns true if a folder is too long for this line. The card's body then shows the folder, because the person must be able to read all of it. */
export function isLongFolder(cwd: string): boolean {
  return cwd.length > inlineFolderMax
}

function ApprovalAction({ ask }: { readonly ask: ApprovalAsk }): ReactNode {
  const { name, server } = toolName(ask)
  if (ask.plan !== undefined || knownAction(ask) !== null)
    return (
      <>
        <h3>{actionLabel(ask)}</h3>
        {ask.plan === undefined && <ExactText text={ask.tool} className="faint small" />}
      </>
    )
  return (
    <h3>
      Use <ExactText text={name} className="tool-name-box agent-background mono" />
      {server !== null && (
        <span className="action-source">
          {' from '}
          <ExactText text={server} className="tool-name-box agent-background mono" />
          {' (MCP)'}
        </span>
      )}
    </h3>
  )
}

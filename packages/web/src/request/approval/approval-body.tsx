/** The content of an approval: everything that would run, what the agent says about the request, and the warnings of the agent's program. */
import { splitDescription, viewOf } from '@holdpoint/client'
import type { ApprovalAsk, SessionId } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { ExactText } from '../../text/agent-text.tsx'
import { Quote } from '../../text/prose.tsx'
import { isLongFolder } from '../action-line.tsx'
import { ScrollPane } from '../fully-shown.tsx'
import { RiskIcon } from '../risk.tsx'
import { AskViewBody } from './ask-view.tsx'
import { bodyTexts, flaggedAsDangerous } from './texts.ts'
import { useAgentName } from './use-agent-name.ts'
import './approval-body.css'

export interface ApprovalBodyProps {
  readonly ask: ApprovalAsk
  readonly session: SessionId
}

export function ApprovalBody({ ask, session }: ApprovalBodyProps): ReactNode {
  const { statements, view } = useMemo(() => splitDescription(ask, viewOf(ask)), [ask])
  const { caution, cwd } = ask
  return (
    <>
      {isLongFolder(cwd) && (
        <div className="folder soft small">
          {bodyTexts.inFolder} <ExactText text={cwd} className="mono" />
        </div>
      )}
      <AskViewBody view={view} />
      {statements.length > 0 && <Statements statements={statements} />}
      {caution && <Cautions caution={caution} session={session} />}
    </>
  )
}

/** Shows the agent's statements in a pane that tracks whether the person saw them, because a statement may be part of the input. */
function Statements({ statements }: { readonly statements: readonly string[] }): ReactNode {
  return (
    <ScrollPane label={bodyTexts.agentText}>
      <div className="agent-says">
        <span className="soft small">{bodyTexts.agentSays}</span>
        {statements.map(text => (
          <Quote key={text} text={text} className="quoted" />
        ))}
      </div>
    </ScrollPane>
  )
}

interface CautionsProps {
  readonly caution: NonNullable<ApprovalAsk['caution']>
  readonly session: SessionId
}

function Cautions({ caution, session }: CautionsProps): ReactNode {
  const agent = useAgentName(session)
  const { reason, blockedPath, defaultToNo } = caution
  if (reason === undefined && blockedPath === undefined && !defaultToNo) return null
  return (
    <div className={`caution ${defaultToNo ? 'flagged' : ''}`}>
      {defaultToNo && (
        <p className="strong caution-flag">
          <RiskIcon level="dangerous" />
          {flaggedAsDangerous(agent)}
        </p>
      )}
      {reason !== undefined && (
        <div className="remark">
          <span className="soft small">{bodyTexts.reason}</span>
          <Quote text={reason} />
        </div>
      )}
      {blockedPath !== undefined && (
        <div className="remark">
          <span className="soft small">{bodyTexts.blockedPath}</span>
          <p className="agent-background blocked-path">
            <ExactText text={blockedPath} className="mono" />
          </p>
        </div>
      )}
    </div>
  )
}

/** What an approval is about: what would run, whole, and beside it what the agent and its own program say of it. */
import { viewOf } from '@holdpoint/client'
import type { ApprovalAsk } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { InlineAgentText, Quote } from '../../text/agent-text.tsx'
import { isLongFolder } from '../action-line.tsx'
import { ScrollPane } from '../fully-shown.tsx'
import { splitDescription } from './approval-text.ts'
import { AskViewBody } from './ask-view.tsx'
import './approval-body.css'

export function ApprovalBody({ ask }: { readonly ask: ApprovalAsk }): ReactNode {
  const { said, picture } = useMemo(() => splitDescription(ask, viewOf(ask)), [ask])
  const { caution, cwd } = ask
  return (
    <>
      {isLongFolder(cwd) && (
        <div className="folder soft small">
          in <InlineAgentText text={cwd} className="mono" />
        </div>
      )}
      <AskViewBody picture={picture} />
      {said.length > 0 && <Says words={said} />}
      {caution && <Cautions caution={caution} />}
    </>
  )
}

/** A description may be a part of the input: so it is in a window that knows whether it was seen. */
function Says({ words }: { readonly words: readonly string[] }): ReactNode {
  return (
    <ScrollPane label="What the agent says">
      <div className="agent-says">
        <span className="soft small">agent says:</span>
        {words.map(text => (
          <Quote key={text} text={text} className="quoted" />
        ))}
      </div>
    </ScrollPane>
  )
}

function Cautions({ caution }: { readonly caution: NonNullable<ApprovalAsk['caution']> }): ReactNode {
  const { reason, blockedPath, defaultToNo } = caution
  if (reason === undefined && blockedPath === undefined && !defaultToNo) return null
  return (
    <div className="caution">
      {defaultToNo && <p className="strong">⚠ The agent’s own program marks this as dangerous.</p>}
      {reason !== undefined && (
        <div className="remark">
          <span className="soft small">Why it asks</span>
          <Quote text={reason} />
        </div>
      )}
      {blockedPath !== undefined && (
        <div className="remark">
          <span className="soft small">Outside its folder</span>
          <Quote text={blockedPath} className="mono" />
        </div>
      )}
    </div>
  )
}

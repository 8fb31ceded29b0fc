/** What an approval is about: what would run, whole, and beside it what the agent and its own program say of it. */
import { depict } from '@holdpoint/client'
import type { ApprovalAsk } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { Quote } from '../parts/agent-text.tsx'
import { titleWorthSaying } from './approval-words.ts'
import { PictureView } from './picture-view.tsx'

export function ApprovalBody({ ask }: { readonly ask: ApprovalAsk }): ReactNode {
  const picture = useMemo(() => depict(ask), [ask])
  const { description, caution } = ask
  const said = [titleWorthSaying(ask), description ?? null].filter(text => text !== null)
  return (
    <>
      <PictureView picture={picture} />
      {said.length > 0 && (
        <div className="remark">
          <span className="soft small">The agent says</span>
          <Quote text={said.join('\n')} />
        </div>
      )}
      {caution && <Cautions caution={caution} />}
    </>
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

/** What an approval is about: what would run, whole, and beside it what the agent and its own program say of it. */
import { viewOf } from '@holdpoint/client'
import type { ApprovalAsk } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { Quote, Words } from '../parts/agent-text.tsx'
import { tell } from './approval-words.ts'
import { isLongFolder } from './deed-line.tsx'
import { PictureView } from './picture-view.tsx'
import { Pane } from './whole.tsx'

export function ApprovalBody({ ask }: { readonly ask: ApprovalAsk }): ReactNode {
  const { said, picture } = useMemo(() => tell(ask, viewOf(ask)), [ask])
  const { caution, cwd } = ask
  return (
    <>
      {isLongFolder(cwd) && (
        <div className="folder soft small">
          in <Words text={cwd} className="mono" />
        </div>
      )}
      <PictureView picture={picture} />
      {said.length > 0 && <Says words={said} />}
      {caution && <Cautions caution={caution} />}
    </>
  )
}

/** A description may be a part of the input: so it is in a window that knows whether it was seen. */
function Says({ words }: { readonly words: readonly string[] }): ReactNode {
  return (
    <Pane label="What the agent says">
      <div className="says">
        <span className="soft small">agent says:</span>
        {words.map(text => (
          <Quote key={text} text={text} className="said" />
        ))}
      </div>
    </Pane>
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

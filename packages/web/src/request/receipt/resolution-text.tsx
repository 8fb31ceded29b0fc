/** Shows how a request was resolved, and the remark that the person added to the answer. */
import { resolutionLabel, resolutionRemark } from '@holdpoint/client'
import type { Resolution } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'

export interface ResolutionTextProps {
  readonly resolution: Resolution
  /** The id of the person who reads the text. */
  readonly me: string
}

export function ResolutionText({ resolution, me }: ResolutionTextProps): ReactNode {
  const remark = resolutionRemark(resolution)
  return (
    <>
      {resolutionLabel(resolution, me)}
      {remark !== '' && (
        <>
          {': '}
          <InlineAgentText text={remark} />
        </>
      )}
    </>
  )
}

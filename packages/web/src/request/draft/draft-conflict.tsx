/** One quiet line: the same answer was begun twice by the same person, and one of the two is to be gone on with. */
import type { OtherDraft } from '@holdpoint/client'
import type { Ask } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { draftLabels } from './draft-labels.ts'
import './draft-conflict.css'

const words = {
  other: { said: 'Also begun on another of your devices:', keep: 'Keep mine' },
  this: { said: 'Before that, you had begun here:', keep: 'Keep this' },
} as const

export interface DraftConflictProps {
  readonly ask: Ask
  readonly other: OtherDraft
  readonly onSwap: () => void
  readonly onStay: () => void
}

export function DraftConflict({ ask, other, onSwap, onStay }: DraftConflictProps): ReactNode {
  const { said, keep } = words[other.device]
  return (
    <div className="draft-conflict soft small" role="status">
      <span className="draft-conflict-text">
        {said} <InlineAgentText text={draftLabels(ask, other.draft)} />
      </span>
      <button type="button" className="button small" onClick={onSwap}>
        Use that
      </button>
      <button type="button" className="button plain small" onClick={onStay}>
        {keep}
      </button>
    </div>
  )
}

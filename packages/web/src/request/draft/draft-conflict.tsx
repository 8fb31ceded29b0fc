/** Offers the other draft when the same person started two different answers to one request. */
import type { OtherDraft } from '@holdpoint/client'
import type { Ask } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { Sentences } from '../../text/prose.tsx'
import { draftTexts } from '../texts.ts'
import { draftText } from './draft-text.ts'
import './draft-conflict.css'

export interface DraftConflictProps {
  readonly ask: Ask
  readonly other: OtherDraft
  readonly onTakeOther: () => void
  readonly onKeepMine: () => void
}

export function DraftConflict({ ask, other, onTakeOther, onKeepMine }: DraftConflictProps): ReactNode {
  const found = other.device === 'other' ? draftTexts.foundElsewhere : draftTexts.foundHere
  return (
    <div className="draft-conflict soft small" role="status">
      <span className="draft-conflict-text">
        {found} <Sentences text={draftText(ask, other.draft)} />
      </span>
      <button type="button" className="button small" onClick={onTakeOther}>
        {draftTexts.useOther}
      </button>
      <button type="button" className="button plain small" onClick={onKeepMine}>
        {draftTexts.keepCurrent}
      </button>
    </div>
  )
}

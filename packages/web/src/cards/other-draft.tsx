/** One quiet line: the same answer was begun twice by the same person, and one of the two is to be gone on with. */
import type { OtherDraft } from '@holdpoint/client'
import type { Ask } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { Words } from '../parts/agent-text.tsx'
import { draftWords } from './draft-words.ts'

const words = {
  there: { said: 'Also begun on another of your devices:', keep: 'Keep mine' },
  here: { said: 'Before that, you had begun here:', keep: 'Keep this' },
} as const

export interface OtherDraftProps {
  readonly ask: Ask
  readonly other: OtherDraft
  readonly onSwap: () => void
  readonly onStay: () => void
}

export function OtherDraftLine({ ask, other, onSwap, onStay }: OtherDraftProps): ReactNode {
  const { said, keep } = words[other.where]
  return (
    <div className="other-draft soft small" role="status">
      <span className="other-words">
        {said} <Words text={draftWords(ask, other.draft)} />
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

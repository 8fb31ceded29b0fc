/** Says on a card why a watcher asks. */
import type { Request } from '@holdpoint/protocol'
import EyeIcon from 'lucide-react/icons/eye'
import type { ReactNode } from 'react'
import { ExactText, InlineAgentText } from '../text/agent-text.tsx'
import { cardTexts } from './texts.ts'
import './watcher-note.css'

export function WatcherNote({ watcher }: { readonly watcher: NonNullable<Request['watcher']> }): ReactNode {
  return (
    <p className="watcher-note">
      <EyeIcon />
      <span>
        {cardTexts.watcher} <ExactText text={watcher.name} className="mono" />: <InlineAgentText text={watcher.text} />
      </span>
    </p>
  )
}

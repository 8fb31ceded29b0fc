/** What a person had begun to say when a request ended without them: their words, to be copied, until they let them go. */
import { readLocalDraft, removeLocalDraft } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { draftStorage } from '../../storage/draft-storage.ts'
import { Quote } from '../../text/agent-text.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { draftLabels } from './draft-labels.ts'
import './leftover-draft.css'

export function LeftoverDraft({ request }: { readonly request: Request }): ReactNode {
  const { me } = useGateway()
  const { resolution } = request
  const [discarded, setDiscarded] = useState(false)
  const unsaid = resolution !== null && resolution.person !== me && !discarded
  const words = useMemo(() => (unsaid ? begunWords(me, request) : ''), [unsaid, me, request])
  if (words === '') return null
  const discard = () => {
    removeLocalDraft(draftStorage, me, request.id)
    setDiscarded(true)
  }
  return (
    <div className="leftover-draft">
      <div className="leftover-draft-header soft small">
        You had begun:
        <CopyButton text={words} />
        <button type="button" className="copy" onClick={discard}>
          Discard
        </button>
      </div>
      <Quote text={words} />
    </div>
  )
}

/** With what was offered in its place, where there was such: it may be nowhere else. */
function begunWords(me: string, { id, ask }: Request): string {
  const { draft, other } = readLocalDraft(draftStorage, me, id)
  const begun = [draftLabels(ask, draft), other ? draftLabels(ask, other.draft) : '']
  return begun.filter(words => words !== '').join('\n\n')
}

/** Shows a person's unsent answer after the request was resolved in another way, so that the person can copy or discard the answer. */
import { readLocalDraft, removeLocalDraft } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { draftStorage } from '../../storage/draft-storage.ts'
import { Quote } from '../../text/prose.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { draftTexts } from '../texts.ts'
import { draftText } from './draft-text.ts'
import './leftover-draft.css'

export function LeftoverDraft({ request }: { readonly request: Request }): ReactNode {
  const { me } = useGateway()
  const { resolution } = request
  const [discarded, setDiscarded] = useState(false)
  const isUnsent = resolution !== null && resolution.personId !== me && !discarded
  const text = useMemo(() => (isUnsent ? leftoverText(me, request) : ''), [isUnsent, me, request])
  if (text === '') return null
  const discard = () => {
    removeLocalDraft(draftStorage, me, request.id)
    setDiscarded(true)
  }
  return (
    <div className="leftover-draft">
      <div className="leftover-draft-header soft small">
        {draftTexts.leftover}
        <CopyButton text={text} />
        <button type="button" className="text-button" onClick={discard}>
          {draftTexts.discard}
        </button>
      </div>
      <Quote text={text} />
    </div>
  )
}

/** Returns the text of the person's draft and of the other draft that was offered, if any. The other draft is included because it may be stored nowhere else. */
function leftoverText(me: string, { id, ask }: Request): string {
  const { draft, other } = readLocalDraft(draftStorage, me, id)
  const texts = [draftText(ask, draft), other ? draftText(ask, other.draft) : '']
  return texts.filter(text => text !== '').join('\n\n')
}

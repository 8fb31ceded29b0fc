/** The open request of the inbox: its whole card, and what a person can do with requests like it and with its session. */
import { labelText, sessionName } from '@holdpoint/client'
import type { Request, RequestId } from '@holdpoint/protocol'
import ChevronLeftIcon from 'lucide-react/icons/chevron-left'
// biome-ignore lint/correctness/noUnresolvedImports: the linter does not know this export of React 19.2
import { Activity, type ReactNode, useState } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { RequestCard } from '../../request/request-card.tsx'
import { shortcutLabel } from '../../request/shortcut.tsx'
import { similarKey } from '../../shortcuts/card-keys.ts'
import { setMuted, useMuted } from '../../storage/muted-sessions.ts'
import { detailTexts, groupHeadTexts } from './texts.ts'
import '../../request/fitted-card.css'
import './request-detail.css'

export interface RequestDetailProps {
  readonly requests: ReadonlyMap<RequestId, Request>
  /** The request whose card is shown. */
  readonly shown: RequestId | null
  /** True if keyboard shortcuts act on the card. */
  readonly active: boolean
  /** The number of requests that are like the shown one and can be answered with it. */
  readonly similarCount: number
  readonly onSimilar: () => void
  /** Returns to the list. Undefined if the list is beside the card. */
  readonly onBack?: (() => void) | undefined
  readonly waiting: number
  readonly onFocus: (id: RequestId) => void
}

/** How many of the cards that the person opened last stay mounted, so that they keep what is not part of a draft: secrets, open panels and scroll positions. */
const keptMax = 12

export function RequestDetail(props: RequestDetailProps): ReactNode {
  const { requests, shown, active, onFocus } = props
  const [opened, setOpened] = useState<readonly RequestId[]>([])
  if (shown && !opened.includes(shown)) setOpened([...opened, shown].slice(-keptMax))
  const pending = opened.flatMap(id => requests.get(id) ?? []).filter(({ status }) => status === 'pending')
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: this element only tracks whether the card inside has the focus
    <div className="request-detail fitted-card" onFocus={() => shown && onFocus(shown)}>
      {shown && requests.get(shown) && <DetailBar {...props} request={requests.get(shown) as Request} />}
      {pending.map(request => (
        <Activity key={request.id} mode={request.id === shown ? 'visible' : 'hidden'}>
          <RequestCard request={request} showSession active={active && request.id === shown} />
        </Activity>
      ))}
    </div>
  )
}

function DetailBar({
  request,
  active,
  similarCount,
  onSimilar,
  onBack,
  waiting,
}: RequestDetailProps & { readonly request: Request }): ReactNode {
  return (
    <div className="detail-bar">
      {onBack && (
        <button type="button" className="button plain small detail-back" onClick={onBack}>
          <ChevronLeftIcon /> {detailTexts.back}
        </button>
      )}
      {onBack && <span className="soft small detail-count">{detailTexts.backTo(waiting)}</span>}
      {similarCount > 0 && (
        <button type="button" className="button small" {...(active && shortcutLabel(similarKey))} onClick={onSimilar}>
          {detailTexts.similar(similarCount)}
        </button>
      )}
      <MuteButton request={request} />
    </div>
  )
}

function MuteButton({ request: { session: id } }: { readonly request: Request }): ReactNode {
  const session = useInboxPart(({ sessions }) => sessions.get(id))
  const isMuted = useMuted().has(id)
  const name = labelText(session ? sessionName(session) : id)
  return (
    <button
      type="button"
      className="button plain small detail-mute"
      title={isMuted ? groupHeadTexts.unmuteSession(name) : groupHeadTexts.muteSession(name)}
      onClick={() => setMuted(id, !isMuted)}
    >
      {isMuted ? detailTexts.unmute : detailTexts.mute}
    </button>
  )
}

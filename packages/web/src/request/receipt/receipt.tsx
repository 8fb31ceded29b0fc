/** Shows a resolved request as one line with the time, the action, who answered and the delivery state. The line expands to the details. */
import { deliveryLabel, effectiveAsk, resolutionTone, summary } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import TriangleAlertIcon from 'lucide-react/icons/triangle-alert'
import { type ReactNode, useState } from 'react'
import { useGateway, useInboxPart } from '../../gateway/gateway-context.ts'
import { InlineAgentText, SummaryText } from '../../text/agent-text.tsx'
import { clockTime } from '../../text/format-time.ts'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { LeftoverDraft } from '../draft/leftover-draft.tsx'
import { receiptTexts } from '../texts.ts'
import { ResolutionText } from './resolution-text.tsx'
import { ToneIcon } from './tone-icon.tsx'
import './receipt.css'

const ReceiptDetails = lazyComponent(
  async () => (await import('./receipt-details.tsx')).ReceiptDetails,
  () => null,
)

export function Receipt({
  request,
  showSession,
}: {
  readonly request: Request
  readonly showSession: boolean
}): ReactNode {
  const { me } = useGateway()
  const [open, setOpen] = useState(false)
  const title = useInboxPart(({ sessions }) => sessions.get(request.session)?.title)
  const { ask, resolution } = request
  const kind = resolution ? resolutionTone(resolution) : 'none'
  return (
    <>
      <details className={`receipt ${kind}`} onToggle={event => setOpen(event.currentTarget.open)}>
        <summary>
          <ToneIcon tone={kind} />
          <time>{clockTime(resolution?.at ?? request.openedAt)}</time>
          {showSession && title && <InlineAgentText text={title} className="receipt-session" oneLine />}
          <SummaryText
            summary={summary(effectiveAsk(ask, resolution?.effective?.input))}
            className="receipt-what mono"
          />
          <span className="receipt-outcome">
            {resolution ? <ResolutionText resolution={resolution} me={me} /> : receiptTexts.pending}
          </span>
          <DeliveryState request={request} />
        </summary>
        {open && <ReceiptDetails request={request} />}
      </details>
      <LeftoverDraft request={request} />
    </>
  )
}

/** Shows nothing if the agent withdrew the request, because there was no answer to deliver. */
function DeliveryState({ request: { resolution, delivery } }: { readonly request: Request }): ReactNode {
  if (!resolution || resolution.by === 'agent') return null
  const failed = delivery.state === 'unknown' || delivery.state === 'undeliverable'
  return (
    <span className={`receipt-delivery ${failed ? 'bad' : ''}`}>
      {failed && <TriangleAlertIcon />}
      {deliveryLabel(delivery)}
    </span>
  )
}

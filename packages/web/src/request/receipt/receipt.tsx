/** A resolved request in one line: when, what ran, who said what, whether it reached the agent. It opens to the whole story. */
import { deliveryLabel, effectiveAsk, resolutionLabel, resolutionTone, summary } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { type ReactNode, useState } from 'react'
import { useGateway, useInboxPart } from '../../gateway/gateway-context.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { clockTime } from '../../text/format-time.ts'
import { LeftoverDraft } from '../draft/leftover-draft.tsx'
import { ReceiptDetails } from './receipt-details.tsx'
import './receipt.css'

const signs = { yes: '✓', no: '✕', none: '–' } as const
const summaryMax = 300

export function Receipt({ request, named }: { readonly request: Request; readonly named: boolean }): ReactNode {
  const { me } = useGateway()
  const [open, setOpen] = useState(false)
  const title = useInboxPart(({ sessions }) => sessions.get(request.session)?.title)
  const { ask, resolution } = request
  const kind = resolution ? resolutionTone(resolution) : 'none'
  return (
    <>
      <details className={`receipt ${kind}`} onToggle={event => setOpen(event.currentTarget.open)}>
        <summary>
          <span className="receipt-icon" aria-hidden="true">
            {signs[kind]}
          </span>
          <time>{clockTime(resolution?.at ?? request.openedAt)}</time>
          {named && title && <InlineAgentText text={title} className="receipt-session" />}
          <InlineAgentText text={cut(summary(effectiveAsk(ask, resolution)))} className="receipt-what mono" />
          <span className="receipt-outcome">{resolution ? resolutionLabel(resolution, me) : 'still waits'}</span>
          <DeliveryState request={request} />
        </summary>
        {open && <ReceiptDetails request={request} />}
      </details>
      <LeftoverDraft request={request} />
    </>
  )
}

/** What the agent itself dropped has no way to go. */
function DeliveryState({ request: { resolution, delivery } }: { readonly request: Request }): ReactNode {
  if (!resolution || resolution.by === 'agent') return null
  const bad = delivery.state === 'unknown' || delivery.state === 'undeliverable'
  return (
    <span className={`receipt-delivery ${bad ? 'bad' : ''}`}>
      {bad && '⚠ '}
      {deliveryLabel(delivery)}
    </span>
  )
}

function cut(text: string): string {
  return text.length > summaryMax ? `${text.slice(0, summaryMax).toWellFormed()} …` : text
}

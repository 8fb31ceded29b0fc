/** A row of the audit log: when, who, what was answered, the request, and its session, folder, agent and surface. A click shows the details. */
import {
  answeredByLabel,
  answerLabel,
  deliveryLabel,
  driverLabel,
  effectiveAsk,
  resolutionRemark,
  resolutionTone,
  sessionName,
  summary,
} from '@holdpoint/client'
import type { AuditDecision } from '@holdpoint/protocol'
import ClockIcon from 'lucide-react/icons/clock'
import TriangleAlertIcon from 'lucide-react/icons/triangle-alert'
import { memo, type ReactNode, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { useDriver } from '../../gateway/use-driver.ts'
import { LeftoverDraft } from '../../request/draft/leftover-draft.tsx'
import { ReceiptDetails } from '../../request/receipt/receipt-details.tsx'
import { ToneIcon } from '../../request/receipt/tone-icon.tsx'
import { receiptTexts } from '../../request/texts.ts'
import { ExactText, InlineAgentText, SummaryText } from '../../text/agent-text.tsx'
import { clockTime, dateTime } from '../../text/format-time.ts'
import { Path } from '../../text/path.tsx'
import { auditTexts } from './texts.ts'
import './audit-row.css'

export interface AuditRowProps {
  readonly entry: AuditDecision
  /** Which rule answered, if it is known. */
  readonly rule: string | undefined
}

export const AuditRow = memo(function AuditRow({ entry, rule }: AuditRowProps): ReactNode {
  const { me } = useGateway()
  const [open, setOpen] = useState(false)
  const { value, resolution, cwd, driver: driverName } = entry
  const driver = useDriver(driverName)
  const tone = resolutionTone(resolution)
  const { via } = resolution
  const remark = resolutionRemark(resolution)
  return (
    <>
      <details className={`receipt audit-row ${tone}`} onToggle={event => setOpen(event.currentTarget.open)}>
        <summary className="audit-columns">
          <time className="audit-time" dateTime={new Date(entry.at).toISOString()} title={dateTime(entry.at)}>
            {clockTime(entry.at, entry.at)}
          </time>
          <span className="audit-who" title={rule}>
            {rule ?? answeredByLabel(resolution, me)}
          </span>
          <span className="audit-answer">
            <ToneIcon tone={tone} />
            <span className="audit-answer-text">
              {answerLabel(resolution)}
              {remark !== '' && (
                <span className="soft">
                  {': '}
                  <InlineAgentText text={remark} />
                </span>
              )}
            </span>
            <DeliveryState entry={entry} />
          </span>
          <SummaryText
            summary={summary(effectiveAsk(value.ask, resolution.effective?.input))}
            className="receipt-what audit-what mono"
          />
          <InlineAgentText
            text={sessionName({ title: entry.title, driver: driverName })}
            className="audit-session"
            oneLine
          />
          <span className="audit-folder">{cwd !== '' && <Path path={cwd} />}</span>
          <InlineAgentText text={driverLabel(driverName, driver?.title)} className="audit-agent" oneLine />
          <span className="audit-via">
            {via !== undefined && <ExactText text={receiptTexts.clients[via] ?? via} />}
          </span>
        </summary>
        {open && <ReceiptDetails request={value} />}
      </details>
      <LeftoverDraft request={value} />
    </>
  )
})

/** A delivered answer is the usual case, so only screen readers are told about it. */
function DeliveryState({ entry: { resolution, delivery } }: { readonly entry: AuditDecision }): ReactNode {
  if (resolution.by === 'agent') return null
  const failed = delivery.state === 'unknown' || delivery.state === 'undeliverable'
  if (delivery.state === 'taken') return <span className="visually-hidden">{deliveryLabel(delivery)}</span>
  return (
    <>
      <span className={`audit-delivery ${failed ? 'bad' : ''}`} title={deliveryLabel(delivery)} aria-hidden="true">
        {failed ? <TriangleAlertIcon /> : <ClockIcon />}
        {auditTexts.delivery[delivery.state]}
      </span>
      <span className="visually-hidden">{deliveryLabel(delivery)}</span>
    </>
  )
}

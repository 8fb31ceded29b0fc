/** Offers once, without interrupting the person, to make a rule for a command that they have always allowed. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { ExactText } from '../../text/agent-text.tsx'
import { useArmed } from '../../ui/confirm-button.tsx'
import { showToast } from '../../ui/toast.tsx'
import { offerTexts } from './texts.ts'
import { type HistoryOffer, useHistoryOffer } from './use-history-offer.ts'
import './history-offer.css'

export interface HistoryOffersProps {
  readonly requests: ReadonlyMap<RequestId, Request>
  /** True while the pointer is over the section below, which would move if an offer appeared. */
  readonly isBelowHovered: boolean
}

export function HistoryOffers({ requests, isBelowHovered }: HistoryOffersProps): ReactNode {
  const [offer, end] = useHistoryOffer(requests)
  const [shown, setShown] = useState(offer)
  if (shown !== offer && (offer === null || !isBelowHovered)) setShown(offer)
  return shown && <OfferView key={JSON.stringify(shown.rule)} offer={shown} onEnd={end} />
}

interface OfferViewProps {
  readonly offer: HistoryOffer
  readonly onEnd: () => void
}

function OfferView({ offer: { rule, allowed }, onEnd }: OfferViewProps): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  // The offer may appear under the pointer, so it accepts clicks only after a moment.
  const ready = useArmed()
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState('')
  const add = async () => {
    setSending(true)
    try {
      await call('addRule', rule)
      showToast(offerTexts.added)
      onEnd()
    } catch (error) {
      setProblem(errorMessage(error))
      setSending(false)
    }
  }
  const disabled = !ready || !live || sending
  return (
    <section className="history-offer small" aria-label={offerTexts.label}>
      <p>
        {offerTexts.allowed} <ExactText text={rule.command ?? ''} className="mono agent-background rule-exact" />{' '}
        {offerTexts.inFolder} <ExactText text={rule.scope?.cwd ?? ''} className="mono" /> {offerTexts.question(allowed)}
      </p>
      <div className="history-offer-actions">
        <button type="button" className="button small" disabled={disabled} onClick={() => void add()}>
          {offerTexts.accept}
        </button>
        <button type="button" className="button plain small" disabled={!ready || sending} onClick={onEnd}>
          {offerTexts.refuse}
        </button>
      </div>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}

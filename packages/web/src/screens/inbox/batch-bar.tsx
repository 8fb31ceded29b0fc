/** The bar that answers several at once, and says what became of each. */
import { actionLabel, summary } from '@holdpoint/client'
import type { Answer, Request, RequestId } from '@holdpoint/protocol'
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { shortcutLabel } from '../../request/shortcut.tsx'
import { cardActionsOf } from '../../shortcuts/card-actions.ts'
import { justChanged } from '../../shortcuts/texts.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { reportFooterHeight } from '../../ui/footer-height.ts'
import { inCooldown } from '../../ui/input-cooldown.ts'
import { dismissToast, showToast } from '../../ui/toast.tsx'
import { allowEach, answerAll, type BatchAnswer, type BatchOutcome } from './batch-answers.ts'
import { DenyAll } from './deny-all.tsx'
import './batch-bar.css'

export interface BatchBarProps {
  readonly requests: readonly Request[]
  readonly known: ReadonlyMap<RequestId, Request>
  /** The card that other keys go to. */
  readonly active: RequestId | null
  readonly isSeen: (id: RequestId) => boolean
  readonly onClear: () => void
}

export function BatchBar({ requests, known, active, isSeen, onClear }: BatchBarProps): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const [sending, setSending] = useState<'allow' | 'deny' | null>(null)
  const [denying, setDenying] = useState(false)
  const [reason, setReason] = useState('')
  const [outcome, setOutcome] = useState<ShownOutcome | null>(null)
  const forget = () => {
    setDenying(false)
    setReason('')
  }
  // What was begun was meant for those that are gone, not for the next ones that are selected.
  if ((denying || reason !== '') && requests.length === 0 && sending === null) forget()
  const send = async (label: 'allow' | 'deny', replies: readonly BatchAnswer[], left = '') => {
    if (inCooldown()) return showToast(justChanged)
    setSending(label)
    const result = await answerAll(call, replies, errorMessage)
    setSending(null)
    // Where all went well, the receipts say so.
    setOutcome(result.refused.length > 0 ? { ...result, left } : null)
    if (result.refused.length > 0) return dismissToast()
    forget()
    showToast(`${result.answered} answered. ${left}`)
  }
  const allow = () => {
    const { replies, left } = allowEach(requests, cardActionsOf)
    if (replies.length > 0) void send('allow', replies, left)
    else showToast(left)
  }
  const deny = () => {
    const given = reason.trim()
    const answer: Answer = { kind: 'deny', ...(given && { reason: given }) }
    void send(
      'deny',
      requests.map(request => ({ request, answer })),
    )
  }
  const any = requests.length > 0 && live && sending === null
  useShortcuts({
    allow: any
      ? () => {
          const why = whyNotByKey(requests, active, isSeen)
          if (why) showToast(why)
          else allow()
        }
      : undefined,
    deny: any ? () => setDenying(true) : undefined,
  })
  if (requests.length === 0 && !outcome && sending === null) return null
  return (
    <section ref={reportFooterHeight} className="batch-bar" aria-label="Answer several at once">
      {outcome && <Outcome outcome={outcome} known={known} onClose={() => setOutcome(null)} />}
      {denying ? (
        <DenyAll
          count={requests.length}
          sending={sending === 'deny'}
          onReason={setReason}
          onBack={() => setDenying(false)}
          onDeny={deny}
          {...{ reason, live }}
        />
      ) : (
        (requests.length > 0 || sending !== null) && (
          <div className="batch-row">
            <span className="batch-count">{requests.length} selected</span>
            <button type="button" className="button primary" disabled={!any} {...shortcutLabel('a')} onClick={allow}>
              {sending === 'allow' ? 'Sending…' : `Allow ${requests.length} once`}
            </button>
            <button
              type="button"
              className="button"
              disabled={!any}
              {...shortcutLabel('d')}
              onClick={() => setDenying(true)}
            >
              {`Deny ${requests.length}…`}
            </button>
            <button type="button" className="button plain" onClick={onClear}>
              Clear
            </button>
          </div>
        )
      )}
    </section>
  )
}

/** A key decides what one looks at: all of the selected, and nothing beside them. Empty where it may. */
function whyNotByKey(
  requests: readonly Request[],
  active: RequestId | null,
  isSeen: (id: RequestId) => boolean,
): string {
  if (active !== null && !requests.some(({ id }) => id === active))
    return 'This one is not selected: x selects it, Escape leaves the selection.'
  const unseen = requests.filter(({ id }) => !isSeen(id)).length
  if (unseen === 0) return ''
  return `${unseen} of the selected ${unseen === 1 ? 'is' : 'are'} not on the screen: use the button to allow all.`
}

interface ShownOutcome extends BatchOutcome {
  readonly left: string
}

interface OutcomeProps {
  readonly outcome: ShownOutcome
  readonly known: ReadonlyMap<RequestId, Request>
  readonly onClose: () => void
}

function Outcome({ outcome: { answered, refused, left }, known, onClose }: OutcomeProps): ReactNode {
  return (
    <div className="batch-outcome" role="status">
      <div className="batch-row">
        <span>
          {answered} answered, {refused.length} not. {left}
        </span>
        <button type="button" className="button plain small" onClick={onClose}>
          Close
        </button>
      </div>
      <ul>
        {refused.map(({ id, why }) => {
          const ask = known.get(id)?.ask
          return (
            <li key={id} className="small">
              {ask && (
                <>
                  {actionLabel(ask)}{' '}
                  <InlineAgentText text={summary(ask)} className="mono agent-background batch-summary" />{' '}
                </>
              )}
              <span className="problem">{why}</span>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

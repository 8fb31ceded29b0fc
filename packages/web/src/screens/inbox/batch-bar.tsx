/** The bar that answers all selected requests at once, and lists the requests whose answers failed. */
import { actionLabel, summary } from '@holdpoint/client'
import type { Answer, Request, RequestId } from '@holdpoint/protocol'
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { shortcutLabel } from '../../request/shortcut.tsx'
import { submissionTexts } from '../../request/texts.ts'
import { usePress } from '../../request/use-press.ts'
import { cardActionsOf } from '../../shortcuts/card-actions.ts'
import { cardKeys } from '../../shortcuts/card-keys.ts'
import { useIsKeyHeld } from '../../shortcuts/held-key.ts'
import { type Press, pressProblem } from '../../shortcuts/press.ts'
import type { ShortcutEffect } from '../../shortcuts/shortcuts.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { SummaryText } from '../../text/agent-text.tsx'
import { inCooldown } from '../../ui/input-cooldown.ts'
import { dismissToast, showToast } from '../../ui/toast.tsx'
import { allowEach, answerAll, type BatchAnswer, type BatchOutcome } from './batch-answers.ts'
import { DenyAll } from './deny-all.tsx'
import { batchTexts, offScreen } from './texts.ts'
import './batch-bar.css'

export interface BatchBarProps {
  /** The selected requests. */
  readonly requests: readonly Request[]
  readonly known: ReadonlyMap<RequestId, Request>
  /** The request whose card is active. Keyboard shortcuts apply to the active card. */
  readonly active: RequestId | null
  readonly isOnScreen: (id: RequestId) => boolean
  readonly onClear: () => void
}

export function BatchBar({ requests, known, active, isOnScreen, onClear }: BatchBarProps): ReactNode {
  const live = useLive()
  const { sending, outcome, closeOutcome, send } = useBatchSend()
  const [denying, setDenying] = useState(false)
  const [reason, setReason] = useState('')
  const reset = () => {
    setDenying(false)
    setReason('')
  }
  // When the selection becomes empty, discard an unfinished reason, because the person wrote it for the previous selection.
  if ((denying || reason !== '') && requests.length === 0 && sending === null) reset()
  const allow = (press: Press) => {
    const { answers, skipped } = allowEach(requests, cardActionsOf)
    if (answers.length > 0) void send('allow', answers, skipped, press).then(sent => sent && reset())
    else showToast(skipped)
  }
  const deny = (press: Press) => {
    const given = reason.trim()
    const answer: Answer = { kind: 'deny', ...(given && { reason: given }) }
    const answers = requests.map(request => ({ request, answer }))
    void send('deny', answers, '', press).then(sent => sent && reset())
  }
  const enabled = requests.length > 0 && live && sending === null
  const allowByKey = (isHeld: boolean): ShortcutEffect => {
    const problem = !isHeld && inCooldown() ? batchTexts.changed : keyProblem(requests, active, isOnScreen)
    if (problem) return { why: problem }
    const { answers } = allowEach(requests, cardActionsOf)
    const content = JSON.stringify(answers.map(({ request, answer }) => [request.id, answer]))
    return { target: 'batch', content, decide: at => allow({ at, isHeldKey: true }) }
  }
  useShortcuts({ allow: enabled ? allowByKey : undefined, deny: enabled ? () => setDenying(true) : undefined })
  if (requests.length === 0 && !outcome && sending === null) return null
  return (
    <section ref={reportHeight} className="batch-bar" aria-label={batchTexts.label}>
      {outcome && <Outcome outcome={outcome} known={known} onClose={closeOutcome} />}
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
          <Actions
            count={requests.length}
            allowing={sending === 'allow'}
            onAllow={allow}
            onDeny={() => setDenying(true)}
            {...{ enabled, onClear }}
          />
        )
      )}
    </section>
  )
}

type BatchKind = 'allow' | 'deny'

interface ShownOutcome extends BatchOutcome {
  readonly skipped: string
}

/** Sends a batch of answers; `send` resolves to true if all of them were accepted. */
function useBatchSend() {
  const { call } = useGateway()
  const [sending, setSending] = useState<BatchKind | null>(null)
  const [outcome, setOutcome] = useState<ShownOutcome | null>(null)
  const send = async (
    kind: BatchKind,
    answers: readonly BatchAnswer[],
    skipped: string,
    press: Press,
  ): Promise<boolean> => {
    const problem = pressProblem(press)
    if (problem) {
      showToast(problem === 'typed' ? submissionTexts.typed : batchTexts.changed)
      return false
    }
    setSending(kind)
    const result = await answerAll(call, answers, errorMessage)
    setSending(null)
    const hasFailures = result.failed.length > 0
    // If nothing failed, the receipts already show the result.
    setOutcome(hasFailures ? { ...result, skipped } : null)
    if (hasFailures) dismissToast()
    else showToast(`${result.answered} answered. ${skipped}`)
    return !hasFailures
  }
  return { sending, outcome, closeOutcome: () => setOutcome(null), send }
}

/** Publishes the height of the bar as a CSS variable, so that toasts appear above it. */
function reportHeight(element: HTMLElement | null): (() => void) | undefined {
  if (!element) return
  const { style } = document.documentElement
  const observer = new ResizeObserver(() => style.setProperty('--footer-height', `${element.offsetHeight}px`))
  observer.observe(element)
  return () => {
    observer.disconnect()
    style.removeProperty('--footer-height')
  }
}

/** Returns why the shortcut must not allow the batch, or an empty string if it may. All selected requests must be on screen, and the active card must be one of them. */
function keyProblem(
  requests: readonly Request[],
  active: RequestId | null,
  isOnScreen: (id: RequestId) => boolean,
): string {
  if (active !== null && !requests.some(({ id }) => id === active)) return batchTexts.notSelected
  const hidden = requests.filter(({ id }) => !isOnScreen(id)).length
  return hidden === 0 ? '' : offScreen(hidden)
}

interface ActionsProps {
  readonly count: number
  readonly enabled: boolean
  readonly allowing: boolean
  readonly onAllow: (press: Press) => void
  readonly onDeny: () => void
  readonly onClear: () => void
}

function Actions({ count, enabled, allowing, onAllow, onDeny, onClear }: ActionsProps): ReactNode {
  const { ref, onPointerDown, pressOf } = usePress(String(count))
  const isKeyHeld = useIsKeyHeld('batch')
  return (
    <div className="batch-row">
      <span className="batch-count">{count} selected</span>
      <button
        ref={ref}
        type="button"
        className={`button primary ${isKeyHeld ? 'key-held' : ''}`}
        disabled={!enabled}
        {...shortcutLabel(cardKeys.allow)}
        onPointerDown={onPointerDown}
        onClick={event => event.detail <= 1 && onAllow(pressOf(event))}
      >
        {allowing ? 'Sending…' : `Allow ${count} once`}
      </button>
      <button type="button" className="button" disabled={!enabled} {...shortcutLabel(cardKeys.deny)} onClick={onDeny}>
        {`Deny ${count}…`}
      </button>
      <button type="button" className="button plain" onClick={onClear}>
        Clear
      </button>
    </div>
  )
}

interface OutcomeProps {
  readonly outcome: ShownOutcome
  readonly known: ReadonlyMap<RequestId, Request>
  readonly onClose: () => void
}

function Outcome({ outcome: { answered, failed, skipped }, known, onClose }: OutcomeProps): ReactNode {
  return (
    <div className="batch-outcome" role="status">
      <div className="batch-row">
        <span>
          {answered} answered, {failed.length} failed. {skipped}
        </span>
        <button type="button" className="button plain small" onClick={onClose}>
          Close
        </button>
      </div>
      <ul>
        {failed.map(({ id, reason }) => {
          const ask = known.get(id)?.ask
          return (
            <li key={id} className="small">
              {ask && (
                <>
                  {actionLabel(ask)}{' '}
                  <SummaryText summary={summary(ask)} className="mono agent-background batch-summary" />{' '}
                </>
              )}
              <span className="problem">{reason}</span>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

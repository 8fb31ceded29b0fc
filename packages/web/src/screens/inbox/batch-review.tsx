/** Answers all selected requests at once, from a table of exactly what each of them will run. */
import { readLocalDraft } from '@holdpoint/client'
import type { Answer, Request, RequestId } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useState } from 'react'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { FullyShownProvider, ScrollHint, useFullyShown } from '../../request/fully-shown.tsx'
import { shortcutLabel } from '../../request/shortcut.tsx'
import { usePress } from '../../request/use-press.ts'
import { cardKeys } from '../../shortcuts/card-keys.ts'
import { useIsKeyHeld } from '../../shortcuts/held-key.ts'
import type { Press } from '../../shortcuts/press.ts'
import type { ShortcutEffect } from '../../shortcuts/shortcuts.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { draftStorage } from '../../storage/draft-storage.ts'
import { inCooldown } from '../../ui/input-cooldown.ts'
import { allowEach, type BatchAllow } from './batch-answers.ts'
import { DenyAll } from './deny-all.tsx'
import { ReviewTable } from './review-table.tsx'
import { batchTexts, reviewTexts } from './texts.ts'
import type { BatchSend } from './use-batch-send.ts'
import './batch-review.css'

export interface BatchReviewProps {
  /** The selected requests. */
  readonly requests: readonly Request[]
  readonly leftOut: readonly Request[]
  /** The request to which the person has moved in the list. If it is not selected, keys answer nothing. */
  readonly active: RequestId | null
  readonly batchSend: BatchSend
  readonly onRemove: (id: RequestId) => void
  readonly onClear: () => void
}

export function BatchReview({ requests, leftOut, active, batchSend, onRemove, onClear }: BatchReviewProps): ReactNode {
  const live = useLive()
  const { me } = useGateway()
  const fullyShown = useFullyShown()
  const { sending, send } = batchSend
  const [denying, setDenying] = useState(false)
  const [reason, setReason] = useState('')
  const batch = useMemo(() => allowEach(requests, id => readLocalDraft(draftStorage, me, id).draft), [requests, me])
  const { answers, skipped } = batch
  const enabled = live && sending === null
  const canAllow = enabled && fullyShown.complete && answers.length > 0
  const allow = (press: Press) => void send('allow', answers, skipped, press)
  const deny = (press: Press) => {
    const given = reason.trim()
    const answer: Answer = { kind: 'deny', ...(given && { reason: given }) }
    void send(
      'deny',
      requests.map(request => ({ request, answer })),
      '',
      press,
    )
  }
  const isActiveSelected = active === null || requests.some(({ id }) => id === active)
  const allowByKey = (isHeld: boolean): ShortcutEffect => {
    if (!isHeld && inCooldown()) return { why: batchTexts.changed }
    if (!isActiveSelected) return { why: batchTexts.notSelected }
    if (!fullyShown.complete) return { why: batchTexts.unread }
    if (answers.length === 0) return { why: batchTexts.nothingToAllow }
    return { target: 'batch', content: contentOf(batch), decide: at => allow({ at, isHeldKey: true }) }
  }
  useShortcuts({
    allow: enabled && !denying ? allowByKey : undefined,
    deny: enabled ? () => setDenying(true) : undefined,
  })
  return (
    <section className="batch-review" aria-label={batchTexts.label}>
      <ReviewHeader count={requests.length} onClear={onClear} />
      <FullyShownProvider value={fullyShown}>
        {/* What has been on the screen is forgotten when the selection changes. */}
        <ReviewTable key={requests.map(({ id }) => id).join()} {...{ requests, leftOut, batch, onRemove }} />
      </FullyShownProvider>
      <footer className="batch-bar">
        <ScrollHint fullyShown={fullyShown} action="allow" />
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
          <Actions
            batch={batch}
            denied={requests.length}
            hasKeys={isActiveSelected}
            allowing={sending === 'allow'}
            onAllow={allow}
            onDeny={() => setDenying(true)}
            {...{ enabled, canAllow }}
          />
        )}
      </footer>
    </section>
  )
}

function ReviewHeader({ count, onClear }: { readonly count: number; readonly onClear: () => void }): ReactNode {
  return (
    <header className="review-header">
      <h2>{reviewTexts.title(count)}</h2>
      <button type="button" className="button plain small" onClick={onClear}>
        {reviewTexts.clear}
      </button>
    </header>
  )
}

function contentOf({ answers }: BatchAllow): string {
  return JSON.stringify(answers.map(({ request, answer }) => [request.id, answer]))
}

interface ActionsProps {
  readonly batch: BatchAllow
  readonly denied: number
  readonly enabled: boolean
  readonly canAllow: boolean
  /** False if the page would refuse the keys. */
  readonly hasKeys: boolean
  readonly allowing: boolean
  readonly onAllow: (press: Press) => void
  readonly onDeny: () => void
}

function Actions(props: ActionsProps): ReactNode {
  const { batch, denied, enabled, canAllow, hasKeys, allowing, onAllow, onDeny } = props
  const { ref, onPointerDown, pressOf } = usePress(contentOf(batch))
  const isKeyHeld = useIsKeyHeld('batch')
  return (
    <div className="batch-row batch-decisions">
      <button
        ref={ref}
        type="button"
        className={`button primary ${isKeyHeld ? 'key-held' : ''}`}
        disabled={!canAllow}
        {...(canAllow && hasKeys && shortcutLabel(cardKeys.allow))}
        onPointerDown={onPointerDown}
        onClick={event => event.detail <= 1 && onAllow(pressOf(event))}
      >
        {allowing ? 'Sending…' : reviewTexts.allow(batch.answers.length)}
      </button>
      <button
        type="button"
        className="button align-end"
        disabled={!enabled}
        {...(enabled && shortcutLabel(cardKeys.deny))}
        onClick={onDeny}
      >
        {reviewTexts.deny(denied)}
      </button>
    </div>
  )
}

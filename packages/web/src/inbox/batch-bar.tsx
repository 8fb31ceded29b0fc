/** The bar that answers several at once, and says what became of each. */
import { deed, summary } from '@holdpoint/client'
import type { Answer, Request, RequestId } from '@holdpoint/protocol'
import { type ReactNode, useRef, useState } from 'react'
import { useDesk, useLive } from '../desk.ts'
import { noteFoot } from '../frame/foot.ts'
import { announce, hush } from '../habits/announce.ts'
import { cardActionsOf } from '../habits/card-keys.ts'
import { useKeys } from '../habits/use-keys.ts'
import { Words } from '../parts/agent-text.tsx'
import { isQuiet } from '../quiet.ts'
import { said } from '../said.ts'
import { answerAll, type BatchOutcome } from './batch.ts'

export interface BatchBarProps {
  readonly requests: readonly Request[]
  readonly known: ReadonlyMap<RequestId, Request>
  readonly onClear: () => void
}

export function BatchBar({ requests, known, onClear }: BatchBarProps): ReactNode {
  const { call } = useDesk()
  const live = useLive()
  const [sending, setSending] = useState<string | null>(null)
  const [denying, setDenying] = useState(false)
  const [outcome, setOutcome] = useState<BatchOutcome | null>(null)
  const send = async (label: string, to: readonly Request[], answer: Answer) => {
    if (isQuiet()) return announce('Something just changed. Look, then press again.')
    setSending(label)
    setDenying(false)
    const result = await answerAll(call, to, answer, said)
    setSending(null)
    // Where all went well, the receipts say so.
    setOutcome(result.refused.length > 0 ? result : null)
    if (result.refused.length > 0) hush()
    else announce(`${result.answered} answered.`)
  }
  // Its card lets a request be allowed once all of it was on the screen.
  const allowable = () => requests.filter(({ id }) => cardActionsOf(id)?.allow)
  const allow = () => {
    const fit = allowable()
    if (fit.length < requests.length) announce(`${requests.length - fit.length} were not shown whole yet, and wait on.`)
    if (fit.length > 0) void send('allow', fit, { kind: 'allow' })
  }
  const any = requests.length > 0 && live && sending === null
  useKeys({
    allow: any ? allow : undefined,
    deny: any ? () => setDenying(true) : undefined,
  })
  if (requests.length === 0 && !outcome && sending === null) return null
  return (
    <section ref={noteFoot} className="batch" aria-label="Answer several at once">
      {outcome && <Outcome outcome={outcome} known={known} onClose={() => setOutcome(null)} />}
      {denying ? (
        <DenyAll
          count={requests.length}
          onBack={() => setDenying(false)}
          onDeny={answer => void send('deny', requests, answer)}
        />
      ) : (
        (requests.length > 0 || sending !== null) && (
          <div className="batch-row">
            <span className="batch-count">{requests.length} selected</span>
            <button type="button" className="button primary" disabled={!any} onClick={allow}>
              {sending === 'allow' ? 'Sending…' : `Allow ${requests.length} once`}
            </button>
            <button type="button" className="button" disabled={!any} onClick={() => setDenying(true)}>
              {sending === 'deny' ? 'Sending…' : `Deny ${requests.length}…`}
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

interface DenyAllProps {
  readonly count: number
  readonly onBack: () => void
  readonly onDeny: (answer: Answer) => void
}

/** Enter here denies; Escape goes back. */
function DenyAll({ count, onBack, onDeny }: DenyAllProps): ReactNode {
  const field = useRef<HTMLInputElement>(null)
  const deny = () => {
    const reason = field.current?.value.trim()
    onDeny({ kind: 'deny', ...(reason && { reason }) })
  }
  return (
    <form
      className="batch-row"
      onSubmit={event => {
        event.preventDefault()
        deny()
      }}
    >
      <input
        ref={field}
        className="input batch-reason"
        aria-label={`Why ${count} are denied`}
        placeholder="Why? The agents read it."
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field
        autoFocus
        onKeyDown={event => event.key === 'Escape' && onBack()}
      />
      <button type="submit" className="button">
        Deny {count}
      </button>
      <button type="button" className="button plain" onClick={onBack}>
        Back
      </button>
    </form>
  )
}

interface OutcomeProps {
  readonly outcome: BatchOutcome
  readonly known: ReadonlyMap<RequestId, Request>
  readonly onClose: () => void
}

function Outcome({ outcome: { answered, refused }, known, onClose }: OutcomeProps): ReactNode {
  return (
    <div className="batch-outcome" role="status">
      <div className="batch-row">
        <span>
          {answered} answered, {refused.length} not
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
                  {deed(ask)} <Words text={summary(ask)} className="mono ground batch-words" />{' '}
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

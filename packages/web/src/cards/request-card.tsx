/** One request that waits: who asks, what, and the way to answer. Once it is resolved it folds to its receipt, where it stands. */
import { deed, outcome } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { memo, type ReactNode, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useDesk } from '../desk.ts'
import { Words } from '../parts/agent-text.tsx'
import { noteChange } from '../quiet.ts'
import { ApprovalCard } from './approval-card.tsx'
import { CardHead } from './card-head.tsx'
import { FormCard } from './form-card.tsx'
import { type Hand, useHand } from './hand.ts'
import { QuestionsCard } from './questions-card.tsx'
import { Receipt } from './receipt.tsx'
import { cardName } from './step.ts'
import { type Drafting, useDraft } from './use-draft.ts'

export interface RequestCardProps {
  readonly request: Request
  /** Whether the session's name stands on it: not where one looks at that session anyway. */
  readonly named: boolean
  /** Whether keys go to it. */
  readonly active: boolean
  readonly selected?: boolean
  readonly onSelect?: (selected: boolean) => void
}

export const RequestCard = memo(function RequestCard(props: RequestCardProps): ReactNode {
  const { request, named, active, selected = false } = props
  const { me } = useDesk()
  const card = useRef<HTMLElement>(null)
  const phase = usePhase(request, card)
  const { resolution } = request
  return (
    <article
      ref={card}
      id={cardName(request.id)}
      className={`card ${active ? 'active' : ''} ${selected ? 'selected' : ''} ${phase}`}
      aria-label={deed(request.ask)}
      tabIndex={-1}
    >
      <p className="offscreen" role="status">
        {phase !== 'open' && resolution && `${deed(request.ask)}: ${outcome(resolution, me)}`}
      </p>
      {phase !== 'folded' && (
        <div className="fold" inert={phase === 'folding'}>
          <OpenCard {...props} card={card} />
        </div>
      )}
      {phase !== 'open' && <Receipt request={request} named={named} />}
    </article>
  )
})

type OpenCardProps = RequestCardProps & { readonly card: RefObject<HTMLElement | null> }

function OpenCard({ request, named, selected = false, onSelect, card }: OpenCardProps): ReactNode {
  const drafting = useDraft(request, card)
  const hand = useHand(request, drafting)
  const open = useCallback(() => (card.current?.querySelector<HTMLElement>(focusable) ?? card.current)?.focus(), [card])
  return (
    <div className="fold-inner">
      <header className="card-head">
        {onSelect && (
          <label className="select">
            <input type="checkbox" checked={selected} onChange={event => onSelect(event.target.checked)} />
            <span className="offscreen">Select: {deed(request.ask)}</span>
          </label>
        )}
        <CardHead request={request} named={named} others={drafting.others} />
      </header>
      <div className="sheet" aria-busy={hand.pressed !== null}>
        <Deed request={request} />
        {askCard(request, hand, drafting, open)}
        <p
          className={`notice ${hand.notice?.bad ? 'problem' : 'soft small'}`}
          role={hand.notice?.bad ? 'alert' : 'status'}
        >
          {hand.notice?.text}
        </p>
      </div>
    </div>
  )
}

/** Never a button: Enter, pressed once more, would press it. */
const focusable = '.sheet :is(input, textarea, select, [tabindex="0"]):not(:disabled)'

function askCard(request: Request, hand: Hand, drafting: Drafting, open: () => void): ReactNode {
  const { ask } = request
  const given = { request, hand, drafting, open }
  switch (ask.kind) {
    case 'approval':
      return <ApprovalCard {...given} ask={ask} />
    case 'questions':
      return <QuestionsCard {...given} ask={ask} />
    case 'form':
      return <FormCard {...given} ask={ask} />
  }
}

function Deed({ request: { ask } }: { readonly request: Request }): ReactNode {
  const words = deed(ask)
  return (
    <div className="deed">
      <h3>{words}</h3>
      {ask.kind === 'approval' && ask.plan === undefined && !words.startsWith('Use ') && (
        <Words text={ask.tool} className="faint small" />
      )}
      {ask.kind === 'approval' && ask.cwd !== '' && (
        <span className="folder soft small">
          in <Words text={ask.cwd} className="mono" />
        </span>
      )}
    </div>
  )
}

const foldMs = 180
type Phase = 'open' | 'folding' | 'folded'

/** What was never open need not fold. */
function usePhase({ status }: Request, card: RefObject<HTMLElement | null>): Phase {
  const resolved = status === 'resolved'
  const [folded, setFolded] = useState(resolved)
  useLayoutEffect(() => {
    if (!resolved || folded) return
    noteChange()
    if (card.current?.contains(document.activeElement)) card.current.focus({ preventScroll: true })
  }, [resolved, folded, card])
  useEffect(() => {
    if (!resolved || folded) return
    const timer = setTimeout(() => setFolded(true), foldMs)
    return () => clearTimeout(timer)
  }, [resolved, folded])
  return !resolved ? 'open' : folded ? 'folded' : 'folding'
}

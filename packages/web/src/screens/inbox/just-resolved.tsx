/** The most recently resolved requests, as receipts below the inbox. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { memo, type ReactNode, useMemo } from 'react'
import { Receipt } from '../../request/receipt/receipt.tsx'
import { href } from '../../routes.ts'
import { resolvedTexts } from './texts.ts'
import './just-resolved.css'

const shownMax = 10

export function lastResolved(requests: Iterable<Request>, shown: ReadonlySet<RequestId>): readonly Request[] {
  return [...requests]
    .filter(({ id, status }) => status === 'resolved' && !shown.has(id))
    .sort((a, b) => (b.resolution?.at ?? 0) - (a.resolution?.at ?? 0) || (a.id < b.id ? -1 : 1))
    .slice(0, shownMax)
}

export interface JustResolvedProps {
  readonly requests: ReadonlyMap<RequestId, Request>
  /** The requests in the list above, which are not repeated here. */
  readonly shown: readonly RequestId[]
  readonly onHover: (inside: boolean) => void
}

export const JustResolved = memo(function JustResolved({ requests, shown, onHover }: JustResolvedProps): ReactNode {
  const last = useMemo(() => lastResolved(requests.values(), new Set(shown)), [requests, shown])
  if (last.length === 0) return null
  return (
    <section
      className="just-resolved receipt-list"
      aria-label={resolvedTexts.title}
      onPointerEnter={() => onHover(true)}
      onPointerLeave={() => onHover(false)}
    >
      <h2 className="section-heading">{resolvedTexts.title}</h2>
      <ul>
        {last.map(request => (
          <li key={request.id}>
            <Receipt request={request} showSession />
          </li>
        ))}
      </ul>
      <a className="small soft" href={href({ screen: 'audit' })}>
        {resolvedTexts.viewAll}
      </a>
    </section>
  )
})

/** What was resolved last, by whom and how: it fades with its age, and gives way to the record. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { memo, type ReactNode, useMemo } from 'react'
import { Receipt } from '../../request/receipt/receipt.tsx'
import { href } from '../../routes.ts'
import './just-resolved.css'

const shownMax = 10

export function lastResolved(requests: Iterable<Request>, standing: ReadonlySet<RequestId>): readonly Request[] {
  return [...requests]
    .filter(({ id, status }) => status === 'resolved' && !standing.has(id))
    .sort((a, b) => (b.resolution?.at ?? 0) - (a.resolution?.at ?? 0) || (a.id < b.id ? -1 : 1))
    .slice(0, shownMax)
}

export interface JustResolvedProps {
  readonly requests: ReadonlyMap<RequestId, Request>
  /** What still stands folded in the list above. */
  readonly shown: readonly RequestId[]
  readonly onHover: (inside: boolean) => void
}

export const JustResolved = memo(function JustResolved({ requests, shown, onHover }: JustResolvedProps): ReactNode {
  const last = useMemo(() => lastResolved(requests.values(), new Set(shown)), [requests, shown])
  if (last.length === 0) return null
  return (
    <section
      className="just-resolved"
      aria-label="Just resolved"
      onPointerEnter={() => onHover(true)}
      onPointerLeave={() => onHover(false)}
    >
      <h2 className="section-heading">Just resolved</h2>
      <ul>
        {last.map(request => (
          <li key={request.id}>
            <Receipt request={request} named />
          </li>
        ))}
      </ul>
      <a className="small soft" href={href({ screen: 'record' })}>
        All of them are in the record
      </a>
    </section>
  )
})

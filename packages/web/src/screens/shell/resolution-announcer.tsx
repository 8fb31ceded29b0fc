/** Announces every resolution to screen readers, on all screens. */
import { actionLabel, resolutionLabel } from '@holdpoint/client'
import { type ReactNode, useEffect, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'

export function ResolutionAnnouncer(): ReactNode {
  const { inbox, me } = useGateway()
  const [last, setLast] = useState({ text: '', cursor: '' })
  useEffect(
    () =>
      inbox.onFrame(frame => {
        if (frame.frame !== 'event' || frame.event.type !== 'request.resolved') return
        const { request, resolution, cursor } = frame.event
        const ask = inbox.getSnapshot().requests.get(request)?.ask
        if (ask) setLast({ text: `${actionLabel(ask)}: ${resolutionLabel(resolution, me)}`, cursor })
      }),
    [inbox, me],
  )
  return (
    <p className="visually-hidden" role="status">
      <span key={last.cursor}>{last.text}</span>
    </p>
  )
}

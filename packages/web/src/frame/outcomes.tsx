/** For those who do not see it: what became of a request, told in one place for every screen. */
import { deed, outcome } from '@holdpoint/client'
import { type ReactNode, useEffect, useState } from 'react'
import { useDesk } from '../desk.ts'

export function Outcomes(): ReactNode {
  const { inbox, me } = useDesk()
  const [last, setLast] = useState({ words: '', cursor: '' })
  useEffect(
    () =>
      inbox.onFrame(frame => {
        if (frame.frame !== 'event' || frame.event.type !== 'request.resolved') return
        const { request, resolution, cursor } = frame.event
        const ask = inbox.getSnapshot().requests.get(request)?.ask
        if (ask) setLast({ words: `${deed(ask)}: ${outcome(resolution, me)}`, cursor })
      }),
    [inbox, me],
  )
  return (
    <p className="offscreen" role="status">
      <span key={last.cursor}>{last.words}</span>
    </p>
  )
}

/** The places of the page at the thumb, on a phone. */
import type { ReactNode } from 'react'
import type { Route } from '../route.ts'
import { type Counts, PlaceLink, places } from './sidebar.tsx'

export function Tabs({ route, counts }: { readonly route: Route; readonly counts: Counts }): ReactNode {
  const screen = route.screen === 'session' ? 'sessions' : route.screen
  return (
    <nav className="tabs" aria-label="Places">
      {places.slice(0, 3).map(place => (
        <PlaceLink key={place.screen} place={place} current={place.screen === screen} counts={counts} />
      ))}
    </nav>
  )
}

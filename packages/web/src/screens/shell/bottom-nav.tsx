/** The places of the page at the thumb, on a phone. */
import type { ReactNode } from 'react'
import type { Route } from '../../routes.ts'
import { type Counts, NavLink, navItems } from './sidebar.tsx'
import './bottom-nav.css'

export function BottomNav({ route, counts }: { readonly route: Route; readonly counts: Counts }): ReactNode {
  const screen = route.screen === 'session' ? 'sessions' : route.screen
  return (
    <nav className="bottom-nav" aria-label="Places">
      {navItems.slice(0, 3).map(place => (
        <NavLink key={place.screen} place={place} current={place.screen === screen} counts={counts} />
      ))}
    </nav>
  )
}

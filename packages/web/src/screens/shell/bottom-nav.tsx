/** The navigation bar at the bottom of the screen on phones. Settings are in the user menu there. */
import type { ReactNode } from 'react'
import type { Route } from '../../routes.ts'
import { type Counts, NavLink, navItems } from './sidebar.tsx'
import './bottom-nav.css'

export function BottomNav({ route, counts }: { readonly route: Route; readonly counts: Counts }): ReactNode {
  const screen = route.screen === 'session' ? 'sessions' : route.screen
  return (
    <nav className="bottom-nav" aria-label="Screens">
      {navItems.slice(0, 4).map(item => (
        <NavLink key={item.screen} item={item} current={item.screen === screen} counts={counts} />
      ))}
    </nav>
  )
}

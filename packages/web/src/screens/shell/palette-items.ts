/** What can be gone to by name: screens, sessions, a new session; what fits the words that were typed, in a steady order. */
import { sessionName } from '@holdpoint/client'
import { escapeInvisible, type Session, type SessionId } from '@holdpoint/protocol'
import { groupNames, groupOf, newestFirst } from '../../gateway/session-groups.ts'
import { type NavItem, navItems } from './sidebar.tsx'

export type PaletteItem =
  | { readonly kind: 'start'; readonly id: string; readonly name: string; readonly hint: string }
  | {
      readonly kind: 'place'
      readonly id: string
      readonly name: string
      readonly hint: string
      readonly place: NavItem
    }
  | {
      readonly kind: 'session'
      readonly id: string
      readonly name: string
      readonly hint: string
      readonly session: SessionId
    }

const shownMax = 12

export function findItems(typed: string, sessions: Iterable<Session>): readonly PaletteItem[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const rank = (session: Session) => groupNames.indexOf(groupOf(session))
  const sorted = [...sessions].sort((a, b) => rank(a) - rank(b) || newestFirst(a, b))
  const all: PaletteItem[] = [
    ...navItems.map(place => ({ kind: 'place' as const, id: place.screen, name: place.name, hint: 'Screen', place })),
    { kind: 'start', id: 'start', name: 'New session', hint: 'Start' },
    ...sorted.map(session => ({
      kind: 'session' as const,
      id: session.id,
      name: escapeInvisible(sessionName(session)),
      hint: `${groupOf(session)} · ${escapeInvisible(session.cwd)}`,
      session: session.id,
    })),
  ]
  const fits = ({ name, hint }: PaletteItem) => words.every(word => `${name} ${hint}`.toLowerCase().includes(word))
  return all.filter(fits).slice(0, shownMax)
}

/** The items of the command palette: screens, sessions and “New session”, filtered by the typed words. */
import { sessionName } from '@holdpoint/client'
import type { Session, SessionId } from '@holdpoint/protocol'
import { groupNames, groupOf, newestFirst } from '../../gateway/session-groups.ts'
import { type NavItem, navItems } from './sidebar.tsx'

/** Names and hints are not escaped. */
export type PaletteItem =
  | { readonly kind: 'start'; readonly id: string; readonly name: string; readonly hint: string }
  | {
      readonly kind: 'screen'
      readonly id: string
      readonly name: string
      readonly hint: string
      readonly item: NavItem
    }
  | {
      readonly kind: 'session'
      readonly id: string
      readonly name: string
      readonly hint: string
      readonly session: SessionId
    }

const shownMax = 12

export function findItems(query: string, sessions: Iterable<Session>): readonly PaletteItem[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const rank = (session: Session) => groupNames.indexOf(groupOf(session))
  const sorted = [...sessions].sort((a, b) => rank(a) - rank(b) || newestFirst(a, b))
  const all: PaletteItem[] = [
    ...navItems.map(item => ({ kind: 'screen' as const, id: item.screen, name: item.name, hint: 'Screen', item })),
    { kind: 'start', id: 'start', name: 'New session', hint: 'Start' },
    ...sorted.map(session => ({
      kind: 'session' as const,
      id: session.id,
      name: sessionName(session),
      hint: `${groupOf(session)} · ${session.cwd}`,
      session: session.id,
    })),
  ]
  const matches = ({ name, hint }: PaletteItem) => words.every(word => `${name} ${hint}`.toLowerCase().includes(word))
  return all.filter(matches).slice(0, shownMax)
}

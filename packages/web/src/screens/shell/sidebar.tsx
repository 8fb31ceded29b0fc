/** The sidebar: links to the screens, and to the sessions that have not ended, grouped by state. */
import { isDangerous, riskLevelLabels, sessionName, stateLabel, troubleOf } from '@holdpoint/client'
import type { Session, SessionId } from '@holdpoint/protocol'
import type { LucideIcon } from 'lucide-react'
import InboxIcon from 'lucide-react/icons/inbox'
import ScrollTextIcon from 'lucide-react/icons/scroll-text'
import SettingsIcon from 'lucide-react/icons/settings'
import ShieldCheckIcon from 'lucide-react/icons/shield-check'
import SquareTerminalIcon from 'lucide-react/icons/square-terminal'
import { type ReactNode, useMemo, useState } from 'react'
import { useRequests, useSessions } from '../../gateway/gateway-context.ts'
import { groupOf, groupSessions } from '../../gateway/session-groups.ts'
import { RiskIcon } from '../../request/risk.tsx'
import { href, type Route } from '../../routes.ts'
import { useIsUnread } from '../../storage/read-sessions.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { SessionStateIcon } from '../../ui/session-state-icon.tsx'
import { UnreadMark } from '../../ui/unread-mark.tsx'
import { moreSessions, navNames, sidebarLabel } from './texts.ts'
import './sidebar.css'

export interface NavItem {
  readonly screen: Exclude<Route['screen'], 'session' | 'unknown'>
  readonly name: string
  readonly Icon: LucideIcon
}
export const navItems: readonly NavItem[] = [
  { screen: 'inbox', name: navNames.inbox, Icon: InboxIcon },
  { screen: 'sessions', name: navNames.sessions, Icon: SquareTerminalIcon },
  { screen: 'audit', name: navNames.audit, Icon: ScrollTextIcon },
  { screen: 'rules', name: navNames.rules, Icon: ShieldCheckIcon },
  { screen: 'settings', name: navNames.settings, Icon: SettingsIcon },
]

export interface Counts {
  readonly waiting: number
  readonly open: number
}

export interface SidebarProps {
  readonly route: Route
  readonly counts: Counts
  /** True while the gateway is unreachable, so the sessions may be out of date. */
  readonly stale: boolean
}

export function Sidebar({ route, counts, stale }: SidebarProps): ReactNode {
  return (
    <nav className="sidebar" aria-label={sidebarLabel}>
      <ul className="nav-list">
        {navItems.map(item => (
          <li key={item.screen}>
            <NavLink item={item} current={route.screen === item.screen} counts={counts} />
          </li>
        ))}
      </ul>
      <SessionNav route={route} stale={stale} />
    </nav>
  )
}

export function NavLink(props: {
  readonly item: NavItem
  readonly current: boolean
  readonly counts: Counts
}): ReactNode {
  const { item, current, counts } = props
  return (
    <a className="nav-item" href={href({ screen: item.screen })} aria-current={current ? 'page' : undefined}>
      <item.Icon />
      <span className="nav-name">{item.name}</span>
      {item.screen === 'inbox' && counts.waiting > 0 && (
        <span className="count waiting">
          {counts.waiting}
          <span className="visually-hidden"> waiting</span>
        </span>
      )}
      {item.screen === 'sessions' && counts.open > 0 && <span className="count">{counts.open}</span>}
    </a>
  )
}

/** Lists the open sessions. While the pointer is over the list, the sessions keep their order but still show their current state. */
function SessionNav({ route, stale }: Omit<SidebarProps, 'counts'>): ReactNode {
  const sessions = useSessions()
  const endangered = useEndangered()
  const [hovered, setHovered] = useState(false)
  const isUnread = useIsUnread()
  const now = useMemo(() => groupSessions(sessions.values(), isUnread), [sessions, isUnread])
  const [shown, setShown] = useState(now)
  if (shown !== now && !hovered) setShown(now)
  return (
    <div
      className="sidebar-sessions"
      inert={stale}
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
    >
      {shown.map(group => (
        <section key={group.name} aria-label={`Sessions: ${group.name}`}>
          <h2 className="section-heading">{group.name}</h2>
          <ul>
            {group.sessions.map(({ id }) => {
              const session = sessions.get(id)
              const current = route.screen === 'session' && route.id === id
              return (
                session && (
                  <SessionLink
                    key={id}
                    {...{ session, current }}
                    endangered={endangered.has(id)}
                    unread={!current && isUnread(session)}
                  />
                )
              )
            })}
          </ul>
          {group.more > 0 && (
            <a className="nav-item more" href={href({ screen: 'sessions' })}>
              {moreSessions(group.more)}
            </a>
          )}
        </section>
      ))}
    </div>
  )
}

/** Returns the sessions that have a dangerous pending request. */
function useEndangered(): ReadonlySet<SessionId> {
  const requests = useRequests()
  return useMemo(() => {
    const dangerous = [...requests.values()].filter(request => request.status === 'pending' && isDangerous(request))
    return new Set(dangerous.map(({ session }) => session))
  }, [requests])
}

/** How many characters of the end of a long session name the sidebar keeps. So many fit even if the window is narrow. */
const sidebarEndLength = 8

interface SessionLinkProps {
  readonly session: Session
  readonly current: boolean
  /** Whether the session has a dangerous pending request. */
  readonly endangered: boolean
  /** Whether the agent has said or finished something that the person has not seen. */
  readonly unread: boolean
}

function SessionLink({ session, current, endangered, unread }: SessionLinkProps): ReactNode {
  const group = groupOf(session)
  const trouble = troubleOf(session)
  return (
    <li>
      <a
        className="nav-item"
        href={href({ screen: 'session', id: session.id })}
        aria-current={current ? 'page' : undefined}
      >
        <SessionStateIcon group={group} />
        <InlineAgentText
          text={sessionName(session)}
          className={`nav-name ${unread ? 'unread' : ''}`}
          oneLine
          endLength={sidebarEndLength}
        />
        {unread && <UnreadMark />}
        {group === 'waiting' && trouble && (
          <span title={stateLabel(session)}>
            <SessionStateIcon group={trouble.kind === 'disconnected' ? 'disconnected' : 'failed'} />
            <span className="visually-hidden">{stateLabel(session)}</span>
          </span>
        )}
        {endangered && (
          <span className="nav-danger" title={riskLevelLabels.dangerous}>
            <RiskIcon level="dangerous" />
            <span className="visually-hidden">{riskLevelLabels.dangerous}</span>
          </span>
        )}
        {session.pending > 0 && <span className="count">{session.pending}</span>}
      </a>
    </li>
  )
}

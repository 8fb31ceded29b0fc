/** The frame around every screen: where one is, what waits, whether it is live. */
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { useInboxPart, useSessions } from './gateway/gateway-context.ts'
import { countOpen } from './gateway/session-groups.ts'
import { useNotifications } from './notifications/notify.ts'
import { startServiceWorker } from './notifications/service-worker.ts'
import { useTitleBadge } from './notifications/title-badge.ts'
import { go, type Route, useRoute } from './routes.ts'
import { InboxScreen } from './screens/inbox/inbox-screen.tsx'
import { BottomNav } from './screens/shell/bottom-nav.tsx'
import { ConnectionBanner, useInertWhile, useReachability } from './screens/shell/connection-banner.tsx'
import { Dialogs } from './screens/shell/dialogs.tsx'
import { Header } from './screens/shell/header.tsx'
import { openDialog } from './screens/shell/open-dialog.ts'
import { PlaceholderScreen } from './screens/shell/placeholder-screen.tsx'
import { ResolutionAnnouncer } from './screens/shell/resolution-announcer.tsx'
import { Sidebar } from './screens/shell/sidebar.tsx'
import { ToastView } from './screens/shell/toast-view.tsx'
import { SignInScreen } from './screens/sign-in/sign-in-screen.tsx'
import { useKeyboard, useShortcuts } from './shortcuts/use-shortcuts.ts'
import { ErrorBoundary } from './ui/error-boundary.tsx'
import { lazyComponent, preloadAll } from './ui/lazy-component.tsx'
import './app.css'

const SessionsScreen = lazyComponent(
  async () => (await import('./screens/session-list/sessions-screen.tsx')).SessionsScreen,
)
const SessionScreen = lazyComponent(async () => (await import('./screens/session/session-screen.tsx')).SessionScreen)
const RecordScreen = lazyComponent(async () => (await import('./screens/audit/audit-screen.tsx')).AuditScreen)
/** By then the first screen stands, and nobody waits for it. */
const fetchAllAfterMs = 3000

export function App(): ReactNode {
  const ended = useInboxPart(snapshot => snapshot.ended)
  return ended ? <SignInScreen error={ended} /> : <Frame />
}

function Frame(): ReactNode {
  const route = useRoute()
  const waiting = useInboxPart(snapshot => snapshot.pendingCount)
  const sessions = useSessions()
  const counts = useMemo(() => ({ waiting, open: countOpen(sessions.values()) }), [waiting, sessions])
  const reach = useReachability()
  const screen = useRef<HTMLElement>(null)
  useInertWhile(reach === 'reconnecting', screen)
  useTitleBadge()
  useNotifications()
  useKeyboard()
  useShortcuts({
    inbox: () => go({ screen: 'inbox' }),
    sessions: () => go({ screen: 'sessions' }),
    record: () => go({ screen: 'record' }),
    start: () => openDialog('start'),
    help: () => openDialog('help'),
    palette: () => openDialog('palette'),
  })
  useEffect(startServiceWorker, [])
  useEffect(() => {
    const timer = setTimeout(preloadAll, fetchAllAfterMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className={`app on-${route.screen} ${reach}`}>
      <button type="button" className="skip-link button" onClick={() => screen.current?.focus()}>
        Skip to the content
      </button>
      <ConnectionBanner reach={reach} />
      <Header />
      <Sidebar route={route} counts={counts} old={reach === 'reconnecting'} />
      <main ref={screen} className="screen" tabIndex={-1}>
        <ErrorBoundary key={route.screen}>{screenOf(route)}</ErrorBoundary>
      </main>
      <BottomNav route={route} counts={counts} />
      <ToastView />
      <ResolutionAnnouncer />
      <Dialogs />
    </div>
  )
}

function screenOf(route: Route): ReactNode {
  switch (route.screen) {
    case 'inbox':
      return <InboxScreen wanted={route.request ?? null} />
    case 'sessions':
      return <SessionsScreen />
    case 'session':
      return <SessionScreen id={route.id} key={route.id} />
    case 'record':
      return <RecordScreen />
    case 'rules':
    case 'settings':
      return <PlaceholderScreen screen={route.screen} />
  }
}

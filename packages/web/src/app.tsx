/** The app: the current screen inside header, navigation, connection banner, toast and dialogs. */
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { useInboxPart, useSessions } from './gateway/gateway-context.ts'
import { countOpen } from './gateway/session-groups.ts'
import { useNotifications } from './notifications/notify.ts'
import { startServiceWorker } from './notifications/service-worker.ts'
import { useTitleBadge } from './notifications/title-badge.ts'
import { go, type Route, useRoute } from './routes.ts'
import { InboxScreen } from './screens/inbox/inbox-screen.tsx'
import { BottomNav } from './screens/shell/bottom-nav.tsx'
import { ConnectionBanner, useConnectionState, useInertWhile } from './screens/shell/connection-banner.tsx'
import { Header } from './screens/shell/header.tsx'
import { openDialog, useOpenDialog } from './screens/shell/open-dialog.ts'
import { ResolutionAnnouncer } from './screens/shell/resolution-announcer.tsx'
import { Sidebar } from './screens/shell/sidebar.tsx'
import { unknownAddressTexts } from './screens/shell/texts.ts'
import { SignInScreen } from './screens/sign-in/sign-in-screen.tsx'
import { useKeyboard, useShortcuts } from './shortcuts/use-shortcuts.ts'
import { useNoteVisits } from './storage/last-visit.ts'
import { useWaitingCount } from './storage/muted-sessions.ts'
import { useMarkRead } from './storage/read-sessions.ts'
import { ErrorBoundary } from './ui/error-boundary.tsx'
import { lazyComponent, preloadAll } from './ui/lazy-component.tsx'
import { ToastView } from './ui/toast.tsx'
import './app.css'

const SessionsScreen = lazyComponent(
  async () => (await import('./screens/session-list/sessions-screen.tsx')).SessionsScreen,
)
const SessionScreen = lazyComponent(async () => (await import('./screens/session/session-screen.tsx')).SessionScreen)
const RulesScreen = lazyComponent(async () => (await import('./screens/rules/rules-screen.tsx')).RulesScreen)
const SettingsScreen = lazyComponent(
  async () => (await import('./screens/settings/settings-screen.tsx')).SettingsScreen,
)
const AuditScreen = lazyComponent(async () => (await import('./screens/audit/audit-screen.tsx')).AuditScreen)

const nothing = () => null
const NewSessionDialog = lazyComponent(
  async () => (await import('./screens/shell/new-session/new-session-dialog.tsx')).NewSessionDialog,
  nothing,
)
const Help = lazyComponent(async () => (await import('./screens/shell/help.tsx')).Help, nothing)
const StopEverything = lazyComponent(
  async () => (await import('./screens/shell/stop-everything.tsx')).StopEverything,
  nothing,
)
const CommandPalette = lazyComponent(
  async () => (await import('./screens/shell/command-palette.tsx')).CommandPalette,
  nothing,
)

/** The other screens are loaded after this delay, so that they do not slow down the first screen. */
const preloadAfterMs = 3000

export function App(): ReactNode {
  const ended = useInboxPart(snapshot => snapshot.ended)
  return ended ? <SignInScreen error={ended} /> : <SignedInApp />
}

function SignedInApp(): ReactNode {
  const route = useRoute()
  const waiting = useWaitingCount()
  const sessions = useSessions()
  const counts = useMemo(() => ({ waiting, open: countOpen(sessions.values()) }), [waiting, sessions])
  const connection = useConnectionState()
  const screen = useRef<HTMLElement>(null)
  useInertWhile(connection === 'reconnecting', screen)
  useTitleBadge()
  useNotifications()
  useNoteVisits()
  useMarkRead(route.screen === 'session' ? route.id : null)
  useKeyboard()
  useShortcuts({
    inbox: () => go({ screen: 'inbox' }),
    sessions: () => go({ screen: 'sessions' }),
    audit: () => go({ screen: 'audit' }),
    rules: () => go({ screen: 'rules' }),
    settings: () => go({ screen: 'settings' }),
    start: () => openDialog('start'),
    help: () => openDialog('help'),
    palette: () => openDialog('palette'),
  })
  useEffect(startServiceWorker, [])
  useEffect(() => {
    const timer = setTimeout(preloadAll, preloadAfterMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className={`app on-${route.screen} ${connection}`}>
      <button type="button" className="skip-link button" onClick={() => screen.current?.focus()}>
        Skip to content
      </button>
      <ConnectionBanner state={connection} />
      <Header />
      <Sidebar route={route} counts={counts} stale={connection === 'reconnecting'} />
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

const closeDialog = () => openDialog(null)

function Dialogs(): ReactNode {
  const open = useOpenDialog()
  switch (open?.name) {
    case 'start':
      return <NewSessionDialog onClose={closeDialog} driver={open.driver} />
    case 'help':
      return <Help onClose={closeDialog} />
    case 'stop':
      return <StopEverything onClose={closeDialog} />
    case 'palette':
      return <CommandPalette onClose={closeDialog} />
    case undefined:
      return null
  }
}

function screenOf(route: Route): ReactNode {
  switch (route.screen) {
    case 'inbox':
      return <InboxScreen linked={route.request ?? null} review={route.review ?? false} />
    case 'sessions':
      return <SessionsScreen />
    case 'session':
      return <SessionScreen id={route.id} key={route.id} />
    case 'audit':
      return <AuditScreen />
    case 'rules':
      return <RulesScreen />
    case 'settings':
      return <SettingsScreen />
    case 'unknown':
      return <UnknownAddress />
  }
}

function UnknownAddress(): ReactNode {
  return (
    <div className="page">
      <div className="empty">
        <h1>{unknownAddressTexts.title}</h1>
        <p className="soft">{unknownAddressTexts.explanation}</p>
        <div className="empty-actions">
          <a className="button" href="#/">
            {unknownAddressTexts.goToInbox}
          </a>
        </div>
      </div>
    </div>
  )
}

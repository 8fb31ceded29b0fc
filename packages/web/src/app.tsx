/** The frame around every screen: where one is, what waits, whether it is live. */
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { Door } from './door.tsx'
import { Announcement } from './frame/announcement.tsx'
import { ConnectionLine, useInertWhile, useReach } from './frame/connection-line.tsx'
import { Dialogs } from './frame/dialogs.tsx'
import { fetchAll, fetched } from './frame/fetched.tsx'
import { Header } from './frame/header.tsx'
import { Later } from './frame/later.tsx'
import { openDialog } from './frame/open-dialog.ts'
import { Outcomes } from './frame/outcomes.tsx'
import { countOpen } from './frame/session-groups.ts'
import { Sidebar } from './frame/sidebar.tsx'
import { Tabs } from './frame/tabs.tsx'
import { Unbroken } from './frame/unbroken.tsx'
import { useInboxPart, useSessions } from './gateway-context.ts'
import { useCount } from './habits/count.ts'
import { useNotifications } from './habits/notify.ts'
import { useKeyboard, useKeys } from './habits/use-keys.ts'
import { startWorker } from './habits/worker.ts'
import { InboxScreen } from './inbox/inbox-screen.tsx'
import { go, type Route, useRoute } from './route.ts'

const SessionsScreen = fetched(async () => (await import('./sessions/sessions-screen.tsx')).SessionsScreen)
const SessionScreen = fetched(async () => (await import('./session/session-screen.tsx')).SessionScreen)
const RecordScreen = fetched(async () => (await import('./record/record-screen.tsx')).RecordScreen)
/** By then the first screen stands, and nobody waits for it. */
const fetchAllAfterMs = 3000

export function App(): ReactNode {
  const ended = useInboxPart(snapshot => snapshot.ended)
  return ended ? <Door error={ended} /> : <Frame />
}

function Frame(): ReactNode {
  const route = useRoute()
  const waiting = useInboxPart(snapshot => snapshot.pendingCount)
  const sessions = useSessions()
  const counts = useMemo(() => ({ waiting, open: countOpen(sessions.values()) }), [waiting, sessions])
  const reach = useReach()
  const screen = useRef<HTMLElement>(null)
  useInertWhile(reach === 'away', screen)
  useCount()
  useNotifications()
  useKeyboard()
  useKeys({
    inbox: () => go({ screen: 'inbox' }),
    sessions: () => go({ screen: 'sessions' }),
    record: () => go({ screen: 'record' }),
    start: () => openDialog('start'),
    help: () => openDialog('help'),
    palette: () => openDialog('palette'),
  })
  useEffect(startWorker, [])
  useEffect(() => {
    const timer = setTimeout(fetchAll, fetchAllAfterMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className={`frame on-${route.screen} ${reach}`}>
      <button type="button" className="skip button" onClick={() => screen.current?.focus()}>
        Skip to the content
      </button>
      <ConnectionLine reach={reach} />
      <Header />
      <Sidebar route={route} counts={counts} old={reach === 'away'} />
      <main ref={screen} className="screen" tabIndex={-1}>
        <Unbroken key={route.screen}>{screenOf(route)}</Unbroken>
      </main>
      <Tabs route={route} counts={counts} />
      <Announcement />
      <Outcomes />
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
      return <Later screen={route.screen} />
  }
}

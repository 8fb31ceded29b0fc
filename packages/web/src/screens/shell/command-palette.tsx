/** The command palette, which finds an action, a screen, a session or a pending request by part of its name. */

import { shownRisk } from '@holdpoint/client'
import type { SessionId } from '@holdpoint/protocol'
import ArrowRightIcon from 'lucide-react/icons/arrow-right'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { flushSync } from 'react-dom'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useMay, useRequests, useSessions } from '../../gateway/gateway-context.ts'
import { groupOf } from '../../gateway/session-groups.ts'
import { canNotify } from '../../notifications/notify.ts'
import { KindIcon } from '../../request/kind-icon.tsx'
import { RiskIcon } from '../../request/risk.tsx'
import { go, useRoute } from '../../routes.ts'
import { hasScreenAction, runScreenAction } from '../../shortcuts/screen-actions.ts'
import { shortcutAction } from '../../shortcuts/use-shortcuts.ts'
import { setMuted, useMuted } from '../../storage/muted-sessions.ts'
import { writePreference } from '../../storage/preferences.ts'
import { useMarkAllRead } from '../../storage/read-sessions.ts'
import { useTheme } from '../../storage/theme.ts'
import { InlineAgentText, SummaryText } from '../../text/agent-text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SessionStateIcon } from '../../ui/session-state-icon.tsx'
import { showToast } from '../../ui/toast.tsx'
import { openDialog } from './open-dialog.ts'
import {
  findItems,
  type PaletteAction,
  type PaletteContent,
  type PaletteItem,
  type SwitchName,
} from './palette-items.ts'
import { startRehearsal } from './rehearsal.ts'
import { navItems } from './sidebar.tsx'
import { paletteTexts } from './texts.ts'
import { type Switch, useNotificationSwitch, useSignOut, useSoundSwitch } from './user-menu.tsx'
import './command-palette.css'

export function CommandPalette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [query, setQuery] = useState('')
  const [index, setIndex] = useState(0)
  const session = useOpenSession()
  const [sound, notifications] = [useSoundSwitch(), useNotificationSwitch()]
  const runAction = useRunAction({ sound, notifications })
  const canSwitch = canNotify() && notifications.permission !== 'denied'
  const content = useContent(session, { sound: sound.on, notifications: canSwitch ? notifications.on : null })
  const items = findItems(query, content)
  const current = items[Math.min(index, items.length - 1)]
  const choose = (item: PaletteItem) => {
    // The dialog gives the focus back before the action may move it.
    flushSync(onClose)
    if (item.kind === 'screen') go({ screen: item.screen })
    else if (item.kind === 'session') go({ screen: 'session', id: item.session })
    else if (item.kind === 'request') go({ screen: 'inbox', request: item.request })
    else runAction(item.action, session)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) setIndex((Math.min(index, items.length - 1) + step + items.length) % Math.max(items.length, 1))
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing && current) choose(current)
    else return
    event.preventDefault()
  }
  return (
    <Dialog label="Go to" className="palette" onClose={onClose}>
      <input
        className="palette-input"
        placeholder={paletteTexts.placeholder}
        aria-label="Go to"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={current && `go-${current.id}`}
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={event => {
          setQuery(event.target.value)
          setIndex(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label={paletteTexts.results} className="palette-list">
        {items.map(item => (
          <button
            key={item.id}
            id={`go-${item.id}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={item === current}
            className="palette-item"
            onClick={() => choose(item)}
          >
            <ItemIcon item={item} />
            <ItemName item={item} />
            <InlineAgentText text={item.hint} className="soft small palette-hint" oneLine />
          </button>
        ))}
      </div>
      {items.length === 0 && <p className="soft palette-none">{paletteTexts.noResults}</p>}
    </Dialog>
  )
}

function useOpenSession(): SessionId | null {
  const route = useRoute()
  return route.screen === 'session' ? route.id : null
}

/** Returns what the palette searches. */
function useContent(session: SessionId | null, switches: PaletteContent['switches']): PaletteContent {
  const { sessions, requests, may } = { sessions: useSessions(), requests: useRequests(), may: useMay() }
  const muted = useMuted()
  const isMuted = session === null ? null : muted.has(session)
  return { sessions, requests, may, isSession: session !== null, has: hasScreenAction, isMuted, switches }
}

const screens = { newRule: 'rules', deviceLink: 'settings', exportCsv: 'audit', exportNdjson: 'audit' } as const

/** Returns a function that does what the buttons of the page do, with the same confirmations. */
function useRunAction(switches: Readonly<Record<SwitchName, Switch>>) {
  const { call } = useGateway()
  const signOut = useSignOut()
  const markAllRead = useMarkAllRead()
  const [, setTheme] = useTheme()
  const tell = (error: unknown) => showToast(errorMessage(error))
  return (action: PaletteAction, session: SessionId | null): void => {
    if (action === 'signOut') signOut().catch(tell)
    else if (action === 'markAllRead') markAllRead()
    else if (action === 'rehearse') startRehearsal(call).catch(tell)
    else if (typeof action === 'string') openDialog(action)
    else if ('theme' in action) setTheme(action.theme)
    else if ('shortcut' in action) shortcutAction(action.shortcut)?.()
    else if ('flip' in action) switches[action.flip].change()
    else if ('here' in action) runScreenAction(action.here)
    else if ('mute' in action) session && setMuted(session, action.mute)
    else if ('grouping' in action) {
      writePreference('grouping', action.grouping)
      go({ screen: 'inbox' })
    } else {
      go({ screen: screens[action.onScreen] })
      runScreenAction(action.onScreen)
    }
  }
}

function ItemName({ item }: { readonly item: PaletteItem }): ReactNode {
  if (item.kind === 'action' || item.kind === 'screen') return <span className="nav-name">{item.name}</span>
  if (item.kind === 'session') return <InlineAgentText text={item.name} className="nav-name" oneLine />
  return <SummaryText summary={item.summary} className={`nav-name ${item.summary.isCode ? 'mono' : ''}`} />
}

/** The icon of the screen, of the state of the session, or of the risk of the request. */
function ItemIcon({ item }: { readonly item: PaletteItem }): ReactNode {
  const [sessions, requests] = [useSessions(), useRequests()]
  if (item.kind === 'session') {
    const session = sessions.get(item.session)
    return session && <SessionStateIcon group={groupOf(session)} />
  }
  if (item.kind === 'request') {
    const request = requests.get(item.request)
    if (!request) return null
    const risk = shownRisk(request)
    return risk ? <RiskIcon level={risk.level} /> : <KindIcon kind={request.ask.kind} />
  }
  const Icon = navItems.find(({ screen }) => item.kind === 'screen' && screen === item.screen)?.Icon ?? ArrowRightIcon
  return <Icon />
}

/** The command palette, which finds an action, a screen, a session or a pending request by part of its name. */
import ArrowRightIcon from 'lucide-react/icons/arrow-right'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useMay, useRequests, useSessions } from '../../gateway/gateway-context.ts'
import { groupOf } from '../../gateway/session-groups.ts'
import { KindIcon } from '../../request/kind-icon.tsx'
import { RiskIcon } from '../../request/risk.tsx'
import { go, useRoute } from '../../routes.ts'
import { shortcutAction } from '../../shortcuts/use-shortcuts.ts'
import { useTheme } from '../../storage/theme.ts'
import { InlineAgentText, SummaryText } from '../../text/agent-text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SessionStateIcon } from '../../ui/session-state-icon.tsx'
import { showToast } from '../../ui/toast.tsx'
import { openDialog } from './open-dialog.ts'
import { findItems, type PaletteItem } from './palette-items.ts'
import { navItems } from './sidebar.tsx'
import { paletteTexts } from './texts.ts'
import { useSignOut } from './user-menu.tsx'
import './command-palette.css'

export function CommandPalette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { sessions, requests, may } = { sessions: useSessions(), requests: useRequests(), may: useMay() }
  const signOut = useSignOut()
  const [, setTheme] = useTheme()
  const [query, setQuery] = useState('')
  const [index, setIndex] = useState(0)
  const isSession = useRoute().screen === 'session'
  const items = findItems(query, { sessions, requests, may, isSession })
  const current = items[Math.min(index, items.length - 1)]
  const choose = (item: PaletteItem) => {
    onClose()
    if (item.kind === 'screen') go({ screen: item.screen })
    else if (item.kind === 'session') go({ screen: 'session', id: item.session })
    else if (item.kind === 'request') go({ screen: 'inbox', request: item.request })
    else if (item.action === 'signOut') signOut().catch((error: unknown) => showToast(errorMessage(error)))
    else if (typeof item.action === 'object' && 'theme' in item.action) setTheme(item.action.theme)
    else if (typeof item.action === 'object') shortcutAction(item.action.shortcut)?.()
    else openDialog(item.action)
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

function ItemName({ item }: { readonly item: PaletteItem }): ReactNode {
  if (item.kind !== 'request') return <InlineAgentText text={item.name} className="nav-name" oneLine />
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
    return request.risk ? <RiskIcon level={request.risk.level} /> : <KindIcon kind={request.ask.kind} />
  }
  const Icon = navItems.find(({ screen }) => item.kind === 'screen' && screen === item.screen)?.Icon ?? ArrowRightIcon
  return <Icon />
}

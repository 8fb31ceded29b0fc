/** The command palette, which finds a screen or a session by part of its name and opens it. */
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { useSessions } from '../../gateway/gateway-context.ts'
import { go } from '../../routes.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { openDialog } from './open-dialog.ts'
import { findItems, type PaletteItem } from './palette-items.ts'
import { paletteTexts } from './texts.ts'
import './command-palette.css'

export function CommandPalette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const sessions = useSessions()
  const [query, setQuery] = useState('')
  const [index, setIndex] = useState(0)
  const items = findItems(query, sessions.values())
  const current = items[Math.min(index, items.length - 1)]
  const choose = (item: PaletteItem) => {
    onClose()
    if (item.kind === 'start') openDialog('start')
    else if (item.kind === 'screen') go({ screen: item.item.screen })
    else go({ screen: 'session', id: item.session })
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
      <div id="palette-list" role="listbox" aria-label="Screens and sessions" className="palette-list">
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
            <InlineAgentText text={item.name} className="nav-name" oneLine />
            <InlineAgentText text={item.hint} className="soft small palette-hint" oneLine />
          </button>
        ))}
      </div>
      {items.length === 0 && <p className="soft palette-none">{paletteTexts.noResults}</p>}
    </Dialog>
  )
}

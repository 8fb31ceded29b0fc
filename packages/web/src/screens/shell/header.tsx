/** The header: home link, command palette, new session, theme, user menu. */
import type { ReactNode } from 'react'
import { nextTheme, useTheme } from '../../storage/theme.ts'
import { openDialog } from './open-dialog.ts'
import { headerTexts, themeButtonLabel } from './texts.ts'
import { UserMenu } from './user-menu.tsx'
import './header.css'

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

export function Header(): ReactNode {
  const [theme, setTheme] = useTheme()
  return (
    <header className="header">
      <a className="brand" href="#/">
        <img src="/favicon.svg" alt="" width={20} height={20} />
        <span className="brand-name">{headerTexts.brand}</span>
      </a>
      <span className="header-space" />
      <button type="button" className="button plain header-palette" onClick={() => openDialog('palette')}>
        {headerTexts.goTo} <kbd className="kbd">{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <button type="button" className="button header-new-session" onClick={() => openDialog('start')}>
        {headerTexts.newSession}
      </button>
      <button
        type="button"
        className="button plain icon-button"
        aria-label={themeButtonLabel(theme, nextTheme(theme))}
        title={themeButtonLabel(theme)}
        onClick={() => setTheme(nextTheme(theme))}
      >
        <span className={`theme-icon ${theme}`} aria-hidden="true" />
      </button>
      <UserMenu />
    </header>
  )
}

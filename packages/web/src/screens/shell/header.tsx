/** The header: home link, command palette, new session, theme, user menu. */
import MonitorIcon from 'lucide-react/icons/monitor'
import MoonIcon from 'lucide-react/icons/moon'
import PlusIcon from 'lucide-react/icons/plus'
import SearchIcon from 'lucide-react/icons/search'
import SunIcon from 'lucide-react/icons/sun'
import type { ReactNode } from 'react'
import { nextTheme, useTheme } from '../../storage/theme.ts'
import { openDialog } from './open-dialog.ts'
import { headerTexts, themeButtonLabel } from './texts.ts'
import { UserMenu } from './user-menu.tsx'
import './header.css'

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

const themeIcons = { system: MonitorIcon, light: SunIcon, dark: MoonIcon } as const

export function Header(): ReactNode {
  const [theme, setTheme] = useTheme()
  const ThemeIcon = themeIcons[theme]
  return (
    <header className="header">
      <a className="brand" href="#/">
        <img src="/favicon.svg" alt="" width={20} height={20} />
        <span className="brand-name">{headerTexts.brand}</span>
      </a>
      <span className="header-space" />
      <button type="button" className="button plain header-palette" onClick={() => openDialog('palette')}>
        <SearchIcon /> {headerTexts.goTo} <kbd className="kbd">{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <button type="button" className="button header-new-session" onClick={() => openDialog('start')}>
        <PlusIcon /> {headerTexts.newSession}
      </button>
      <button
        type="button"
        className="button plain icon-button"
        aria-label={themeButtonLabel(theme, nextTheme(theme))}
        title={themeButtonLabel(theme)}
        onClick={() => setTheme(nextTheme(theme))}
      >
        <ThemeIcon />
      </button>
      <UserMenu />
    </header>
  )
}

/** Light, dark, or what the system says. public/before.js sets it before the first paint; this changes it afterwards. */
import { useEffect } from 'react'
import { usePreference, writePreference } from './preferences.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export function readTheme(value: string | null): Theme {
  return themes.find(theme => theme === value) ?? 'system'
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
}

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const theme = readTheme(usePreference('theme'))
  useEffect(() => {
    const { dataset } = document.documentElement
    if (theme === 'system') delete dataset.theme
    else dataset.theme = theme
    colourBrowser()
  }, [theme])
  return [theme, chosen => writePreference('theme', chosen)]
}

/** The browser's own bar has the colour of the page's head. */
function colourBrowser(): void {
  const shade = getComputedStyle(document.documentElement).getPropertyValue('--shade').trim()
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) meta.content = shade
}

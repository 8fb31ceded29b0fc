/** The color theme: light, dark or the system's. public/before-paint.js applies the theme before the first paint, and this file applies later changes. */
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
    updateThemeColor()
  }, [theme])
  return [theme, next => writePreference('theme', next)]
}

/** Gives the browser's toolbar the color of the page's header. */
function updateThemeColor(): void {
  const color = getComputedStyle(document.documentElement).getPropertyValue('--chrome-background').trim()
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) meta.content = color
}

import { expect, it } from 'vitest'
import { nextTheme, readTheme } from '../src/storage/theme.ts'

it('`nextTheme` cycles through system, light and dark; `readTheme` returns “system” for an unknown theme', () => {
  expect(['system', 'light', 'dark'].map(theme => nextTheme(readTheme(theme)))).toEqual(['light', 'dark', 'system'])
  expect(readTheme('sepia')).toBe('system')
})

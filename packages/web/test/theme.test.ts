import { expect, it } from 'vitest'
import { nextTheme, readTheme } from '../src/storage/theme.ts'

it('nextTheme cycles through the themes, and an unknown theme becomes the system’s', () => {
  expect(['system', 'light', 'dark'].map(theme => nextTheme(readTheme(theme)))).toEqual(['light', 'dark', 'system'])
  expect(readTheme('sepia')).toBe('system')
})

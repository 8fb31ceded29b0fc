/** Texts about an agent's output: invisible characters, diff rows, and how a turn ended. */
import type { TurnEntry } from '@holdpoint/client'

export const invisibleCharacters = '⚠ Invisible characters are shown as \\u{…}.'

/** How screen readers announce a row of a diff. */
export const spokenSigns = { ' ': '', '-': 'removed: ', '+': 'added: ' } as const

export const turnEndings: Record<TurnEntry['ending'], string> = {
  done: 'Turn done',
  interrupted: 'Turn interrupted',
  cancelled: 'Turn canceled',
  failed: 'Turn failed',
}

/** Texts about an agent's output: values of fields, diff rows, and how a turn ended. */
import type { TurnEntry } from '@holdpoint/client'

/** Texts beside a field that does not show all of its value. */
export const exactValueTexts = {
  label: 'Exact value:',
  outerBlanks: 'The value starts or ends with blanks.',
} as const

/** Labels of the two texts of a change that is too long for a diff. */
export const diffTexts = { before: 'Old text', after: 'New text' } as const

/** How screen readers announce a row of a diff. */
export const spokenSigns = { ' ': '', '-': 'removed: ', '+': 'added: ' } as const

export const turnEndings: Record<TurnEntry['ending'], string> = {
  done: 'Turn done',
  interrupted: 'Turn interrupted',
  cancelled: 'Turn canceled',
  failed: 'Turn failed',
}

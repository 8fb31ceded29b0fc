/** Texts about shortcuts: the help dialog, and why a key was ignored. */
import { cardKeys, similarKey } from './card-keys.ts'

export const justChanged = 'The list just changed. Press again to confirm.'
export const wasOffScreen = 'This request was off screen. Press again to confirm.'
export const dangerousNotByKey = 'This request is dangerous, so no key allows it. Use the button on its card.'
export const cannotAllowByKey = 'You can’t allow this request with a key right now. Use the buttons on the card.'

/** Reasons why a key that decides was ignored or dropped. */
export const keptApart =
  'Nothing was sent, because you pressed several keys in a row. Pause for a second, then press again.'
export const otherKeyFollowed = 'Nothing was sent, because another key followed.'
export const pointerUsed = 'Nothing was sent, because you clicked or tapped.'
export const windowLeft = 'Nothing was sent, because you left the page.'
export const targetChanged = 'Nothing was sent, because the request just changed. Press again to confirm.'

export interface ShortcutDescription {
  readonly keys: readonly string[]
  readonly description: string
}

export const shortcutGroups: readonly { readonly title: string; readonly keys: readonly ShortcutDescription[] }[] = [
  {
    title: 'Requests',
    keys: [
      { keys: ['j', 'k'], description: 'Next or previous request' },
      { keys: ['Enter'], description: 'Open the request' },
      { keys: [cardKeys.allow], description: 'Allow once' },
      { keys: [cardKeys.deny], description: 'Deny with a reason' },
      { keys: [cardKeys.edit], description: 'Edit, then allow' },
      { keys: [cardKeys.comment], description: 'Comment on lines' },
      { keys: ['1', '…', '9'], description: 'Choose an option' },
      { keys: ['x'], description: 'Select (Shift+X selects a range)' },
      { keys: [similarKey], description: 'Select all requests like this one' },
      { keys: ['.'], description: 'Show new requests' },
      { keys: ['⌘/Ctrl', 'Enter'], description: 'Send from a text field' },
    ],
  },
  {
    title: 'Session',
    keys: [
      { keys: ['o'], description: 'Show the overview' },
      { keys: ['/'], description: 'Search the transcript' },
      { keys: ['r'], description: 'Next request in the transcript (Shift+R: previous)' },
      { keys: ['w'], description: 'Next waiting request, here or in another session' },
      { keys: ['i'], description: 'Interrupt this session' },
    ],
  },
  {
    title: 'Everywhere',
    keys: [
      { keys: ['g', 'i'], description: 'Go to the inbox' },
      { keys: ['g', 's'], description: 'Go to the sessions' },
      { keys: ['g', 'r'], description: 'Go to the audit log' },
      { keys: ['g', 'u'], description: 'Go to the rules' },
      { keys: ['g', 't'], description: 'Go to the settings' },
      { keys: ['n'], description: 'Start a session' },
      { keys: ['/'], description: 'Search' },
      { keys: ['⌘/Ctrl', 'K'], description: 'Go to…' },
      { keys: ['?'], description: 'Show this help' },
      { keys: ['Esc'], description: 'Go back or close' },
    ],
  },
]

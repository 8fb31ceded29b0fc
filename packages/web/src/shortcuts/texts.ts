/** Texts about shortcuts: the help dialog, and why a key was ignored. */

export const justChanged = 'The list just changed. Press again to confirm.'
export const dangerousNotByKey = 'Flagged as dangerous. Use the button to allow it.'
export const cannotAllowByKey = 'You can’t allow this with a key right now. Use the buttons on the card.'

export interface ShortcutDescription {
  readonly keys: readonly string[]
  readonly description: string
}

export const shortcutGroups: readonly { readonly title: string; readonly keys: readonly ShortcutDescription[] }[] = [
  {
    title: 'Requests',
    keys: [
      { keys: ['j', 'k'], description: 'Next, previous' },
      { keys: ['Enter'], description: 'Expand' },
      { keys: ['a'], description: 'Allow once' },
      { keys: ['d'], description: 'Deny, with a reason' },
      { keys: ['e'], description: 'Edit, then allow' },
      { keys: ['1', '…', '9'], description: 'Choose an option' },
      { keys: ['x'], description: 'Select (Shift+X: select a range)' },
      { keys: ['.'], description: 'Show new requests' },
    ],
  },
  {
    title: 'Everywhere',
    keys: [
      { keys: ['g', 'i'], description: 'Inbox' },
      { keys: ['g', 's'], description: 'Sessions' },
      { keys: ['g', 'r'], description: 'Audit log' },
      { keys: ['n'], description: 'Start a session' },
      { keys: ['/'], description: 'Search' },
      { keys: ['i'], description: 'Interrupt this session' },
      { keys: ['⌘/Ctrl', 'K'], description: 'Go to…' },
      { keys: ['?'], description: 'This help' },
      { keys: ['Esc'], description: 'Back, close' },
    ],
  },
]

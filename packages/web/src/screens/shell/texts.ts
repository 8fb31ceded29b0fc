/** Texts of the app's shell: connection banner, placeholder screens, user menu, help and New session dialogs. */

export const connectionTexts = {
  connected: '',
  reconnecting: 'Reconnecting… Showing last known state.',
  reconnected: 'Reconnected',
} as const

export const placeholderTexts = {
  rules: {
    title: 'Rules',
    text: 'Rules can’t be edited here yet. Every request waits for a person, unless the agent’s program remembers an earlier answer.',
  },
  settings: {
    title: 'Settings',
    text: 'There are no settings here yet. To sign in another browser, run “holdpoint link”.',
  },
} as const

export const userMenuTexts = {
  sound: 'Sound when an agent needs you',
  notify: 'Notify me when this page is hidden',
  notifyBlocked: 'Blocked by this browser for this page.',
  keyboard: 'Keyboard',
  signOut: 'Sign out',
} as const

export const keySafety =
  'Keys never answer a request while you type, within half a second of a change, or if the agent’s program advises against it.'

export const paletteTexts = { placeholder: 'Go to a session or a screen…', noResults: 'No results' } as const

export const newSessionTexts = {
  folderHint: 'Defaults to the gateway’s folder.',
  defaultChoice: 'Default',
  promptPlaceholder: 'What should the agent do?',
  rehearsal: 'A demo that shows every kind of request. Needs no key and changes nothing.',
  noAgents: 'No agents available: no runner is connected. Is “holdpoint up” running?',
  notReady: 'Not ready to run.',
} as const

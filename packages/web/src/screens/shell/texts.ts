/** Texts of the app's shell: header, sidebar, connection banner, user menu, and the help and New session dialogs. */

export const headerTexts = { brand: 'Holdpoint', goTo: 'Go to…', newSession: 'New session' } as const

export function themeButtonLabel(theme: string, next?: string): string {
  return next === undefined ? `Theme: ${theme}` : `Theme: ${theme}. Switch to ${next}`
}

export const sidebarLabel = 'Screens and sessions'
export const navNames = {
  inbox: 'Inbox',
  sessions: 'Sessions',
  audit: 'Audit log',
  rules: 'Rules',
  settings: 'Settings',
} as const

export const unknownAddressTexts = {
  title: 'This page doesn’t exist',
  explanation: 'The address may be mistyped, or the link may come from another version of Holdpoint.',
  goToInbox: 'Go to the inbox',
} as const

export function moreSessions(count: number): string {
  return `${count} more (view all sessions)`
}

export const connectionTexts = {
  connected: '',
  reconnecting: 'Reconnecting… Showing the last known state.',
  reconnected: 'Reconnected',
} as const

export const userMenuTexts = {
  sound: 'Play a sound when an agent needs you',
  notify: 'Notify me while this page is hidden',
  notifyBlocked: 'This browser blocks notifications from this page.',
  keyboard: 'Keyboard',
  signOut: 'Sign out',
} as const

export const keySafety =
  'Keyboard shortcuts never answer a request while you type or within half a second after the page changes, and they never allow a dangerous request.'

export const paletteTexts = {
  placeholder: 'Search sessions, requests and actions…',
  results: 'Actions, screens, sessions and requests',
  noResults: 'No results',
  hints: { screen: 'Screen', action: 'Action', session: 'This session' },
  actions: {
    start: 'New session',
    rehearse: 'Start a rehearsal',
    markAllRead: 'Mark all sessions as read',
    help: 'Keyboard shortcuts',
    stop: 'Stop everything…',
    signOut: 'Sign out',
  },
  /** Actions of a screen, which the palette opens first. */
  onScreen: {
    newRule: 'New rule',
    deviceLink: 'Create a link for another device',
    exportCsv: 'Export the audit log as CSV',
    exportNdjson: 'Export the audit log as NDJSON',
  },
  /** Actions that only the open session or request has. */
  here: {
    interrupt: 'Interrupt this session',
    end: 'End this session…',
    rename: 'Rename this session',
    reviewSession: 'Review all requests of this session',
  },
  mute: { true: 'Unmute this session', false: 'Mute this session' },
  switches: {
    sound: { true: 'Turn the sound off', false: 'Turn the sound on' },
    notifications: { true: 'Turn notifications off', false: 'Turn notifications on' },
  },
  grouping: {
    none: 'Inbox: do not group requests',
    project: 'Inbox: group by project',
    session: 'Inbox: group by session',
  },
  session: {
    overview: 'Overview of this session',
    search: 'Search the transcript',
    nextRequest: 'Next request in the transcript',
    previousRequest: 'Previous request in the transcript',
    nextWaiting: 'Next waiting request',
  },
  theme: (theme: string) => `Theme: ${theme}`,
} as const

export const stopTexts = {
  title: 'Stop everything?',
  open: 'Stop everything…',
  consequence: (working: number, pending: number) =>
    `This interrupts ${working === 1 ? '1 working agent' : `${working} working agents`} and cancels ${pending === 1 ? '1 pending request' : `${pending} pending requests`}. Sessions stay open, and you can send them messages again.`,
  confirm: 'Stop everything',
  stopping: 'Stopping…',
  cancel: 'Cancel',
} as const

export const newSessionTexts = {
  folderHint: 'Defaults to the gateway’s folder.',
  folderProblems: {
    missing: 'This folder doesn’t exist. Create it, or choose another.',
    other: 'This is a file, not a folder.',
    relative: 'Enter an absolute path, for example /home/you/project.',
    denied: 'Holdpoint isn’t allowed to open this folder.',
  },
  defaultOf: (agent: string) => `Default of ${agent}`,
  promptPlaceholder: 'What should the agent do?',
  keyStarts: 'starts',
  rehearsal: 'A demo that shows every kind of request. It needs no API key and changes nothing.',
  noAgents: 'No agents are available, because no runner is connected. Is “holdpoint up” running?',
  notReady: 'This agent isn’t ready.',
  notInstalled: (count: number) => (count === 1 ? '1 agent isn’t installed' : `${count} agents aren’t installed`),
} as const

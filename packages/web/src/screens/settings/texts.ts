/** Texts of the Settings screen. */

export const settingsTexts = {
  title: 'Settings',
  appearance: 'Appearance',
  theme: 'Theme',
  notifications: 'Notifications',
  device: 'Another device',
  access: 'Browsers and tokens',
  about: 'About',
} as const

export const themeNames = { system: 'System', light: 'Light', dark: 'Dark' } as const

export const deviceTexts = {
  introduction: 'A link signs in one other browser as you. It works once and expires after a few minutes.',
  make: 'Create a link',
  another: 'Create another link',
  making: 'Creating…',
  scan: 'Scan this code with your phone, or open the link in the other browser.',
  expires: (time: string) => `Works once, until ${time}.`,
  openHere: 'Open this link in another browser on this computer.',
  onlyHere: (host: string) =>
    `Only this computer can open ${host}, so there is no QR code for a phone. To use a phone, start the gateway with “--host ADDRESS --allow-remote” and an address that the phone can reach, or forward the port through a VPN or a tunnel. Then open Holdpoint at that address and create the link there. docs/configuration.md explains “host” and “hosts”.`,
  qrLabel: 'QR code of the link',
} as const

export const accessTexts = {
  introduction: 'Everything that can sign in to this gateway. Revoking one ends its connections within seconds.',
  forOwner: 'Only the owner of this gateway can see and revoke these.',
  loading: 'Loading…',
  loadFailed: (error: string) => `The list couldn’t be loaded. ${error}`,
  thisBrowser: 'this browser',
  kinds: { bearer: 'Token', cookie: 'Browser' },
  roles: { owner: 'owner', person: 'person', runner: 'runner', agent: 'agent' },
  created: (date: string) => `created ${date}`,
  used: (when: string) => (when === 'now' ? 'used just now' : `last used ${when} ago`),
  inUse: 'in use now',
  neverUsed: 'never used',
  expires: (date: string) => `expires ${date}`,
  revoke: 'Revoke',
  revokeQuestion: (name: string) => `Revoke the access of ${name}?`,
  revokeWarning: 'This also revokes everything that was created with it.',
  revokeOwnWarning: 'This signs this browser out, and revokes everything that was created with it.',
  revoked: (count: number) => (count === 1 ? 'Revoked.' : `Revoked, along with ${count - 1} more that it had created.`),
} as const

export const aboutTexts = {
  version: (version: string) => `Holdpoint ${version}`,
  unknownVersion: 'Holdpoint',
  keyboard: 'Keyboard shortcuts',
  signOut: 'Sign out of this browser',
} as const

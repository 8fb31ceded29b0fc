/** Texts of the sign-in screen. */

export const signInTexts = {
  notSignedIn: 'This browser is not signed in',
  cannotOpen: 'Holdpoint can’t be opened',
  runCommand: 'To sign in, run this command on the machine where Holdpoint is running:',
  command: 'holdpoint link',
  openLink: 'Then open the link that the command prints. The link works once and expires after ten minutes.',
} as const

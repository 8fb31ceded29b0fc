/** Texts of the sign-in screens. */

export const signInTexts = {
  notSignedIn: 'This browser is not signed in',
  cannotOpen: 'Holdpoint can’t be opened',
  runCommand: 'To sign in, run this command on the machine where Holdpoint is running:',
  command: 'holdpoint link',
  openLink: 'Then open the link that the command prints. The link works once and expires after ten minutes.',
} as const

interface Names {
  readonly current: string
  readonly other: string
}
export const switchPersonTexts = {
  title: ({ other }: Names) => `Sign in as ${other}?`,
  explanation: ({ current, other }: Names) =>
    `You are signed in as ${current}. This link signs this browser in as ${other} instead. If you did not ask for this link, stay signed in as ${current}.`,
  stay: ({ current }: Names) => `Stay signed in as ${current}`,
  switch: ({ other }: Names) => `Sign in as ${other}`,
} as const

/** Texts of `holdpoint token`. */
import type { Token } from '@holdpoint/protocol'

export const tokenTexts = {
  columns: ['id', 'role', 'created', 'last used', 'expires', 'name'],
  spareColumns: ['created', 'expires', 'last used'],
  /** A browser is signed in with a cookie, which is listed like a token. */
  role: ({ role, kind }: Pick<Token, 'role' | 'kind'>) => (kind === 'cookie' ? `${role}, browser` : role),
  never: 'never',
  day: (at: number) => new Date(at).toISOString().slice(0, 10),
  added: (id: string, role: string) => `Created ${id} (${role}) for `,
  rotated: (id: string, role: string) => `Replaced ${id} (${role}) of `,
  revoked: (id: string, role: string) => `Revoked ${id} (${role}) of `,
  shownOnce: 'Copy this secret now; it is not shown again. Programs send it in HOLDPOINT_TOKEN.',
  inFile: (file: string | null) =>
    `The new token is in ${file ?? 'the token file of the gateway’s data folder'}. Programs that read that file continue without a restart.`,
  alsoRevoked: 'Also revoked, because they were created with it:',
  signInAgain: 'Sign browsers in again with: holdpoint link',
  several: (name: string, ids: string) => `There are several tokens named "${name}": ${ids}. Use an id`,
  notFound: (typed: string) => `There is no token with the id or name "${typed}". See holdpoint token list`,
  badExpiry: (typed: string) => `--expires must be like 12h or 90d, not "${typed}"`,
  badPerson: (typed: string) =>
    `--person takes the id of a person (per_…), as holdpoint token list --json shows it, not "${typed}"`,
} as const

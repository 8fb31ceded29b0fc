/** Texts about the gateway that a command talks to. */
import type { UnreachableReason } from '@holdpoint/client'

export const addressTexts = {
  malformed: (source: string, url: string) => `${source} must be like http://localhost:4747, not "${url}"`,
  tokenCharacters: 'HOLDPOINT_TOKEN contains a space, a line break or another character that is not allowed in a token',
  noToken: (file: string) =>
    `There is no token for this gateway. Set HOLDPOINT_TOKEN, or copy the owner’s token to ${file}`,
} as const

export const startTexts = {
  external: 'External agents open their own sessions, so you cannot start one here. See docs/write-an-agent.md',
  newAgents:
    'An agent that was added to the config file is available after a restart: holdpoint down, then holdpoint up',
  badMode: (mode: string, driver: string, modes: readonly string[]) =>
    modes.length === 0
      ? `${driver} has no modes`
      : `"${mode}" is not a mode of ${driver}. Available: ${modes.join(', ')}`,
  externalModel: 'An external agent chooses its model itself, so you cannot change it here',
  badFolder: {
    missing: (folder: string) => `The folder ${folder} does not exist`,
    other: (folder: string) => `${folder} is not a folder`,
    relative: (folder: string) => `${folder} is not an absolute path`,
    denied: (folder: string) => `Holdpoint has no permission to open the folder ${folder}`,
  },
} as const

/** Returns advice for the case that the gateway of the data folder cannot be reached. */
export function localAdvice(reason: UnreachableReason): string {
  return reason === 'no answer'
    ? 'Its process is stopped or overloaded. Wait, or restart it: holdpoint down, then holdpoint up'
    : 'Start it with: holdpoint up'
}
/** Returns advice for the case that the gateway at a given URL cannot be reached. `source` is the flag or the variable that named the URL. */
export function remoteAdvice(source: string, reason: UnreachableReason): string {
  return reason === 'no answer'
    ? `Try again later, or check the URL in ${source}`
    : `Check the URL in ${source}, and that its gateway is running`
}

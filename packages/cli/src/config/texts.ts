/** Texts about settings, trust in config files, and the data folder. */
import type { AccessProblem } from './file-access.ts'

const list = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

export const dataFolderTexts = {
  notPrivate: ({ path, detail, remedy }: AccessProblem) =>
    `${path} ${detail}. Fix it with: ${remedy}. Or choose another data folder with --home or HOLDPOINT_HOME`,
  notWritable: (file: string, reason: string) =>
    `${file} cannot be written (${reason}). Check the disk and the permissions of the data folder`,
} as const

export const socketTexts = {
  noGateway: 'No gateway is running for this data folder',
  olderGateway:
    'The gateway that is running was started by an older version of Holdpoint. Restart it: holdpoint down, then holdpoint up',
  inUse: (folder: string) =>
    `${folder} is in use by another gateway. Stop that one first, or choose another data folder with --home`,
} as const

export const configTexts = {
  notRegularFile: 'This is not a regular file',
  tooLarge: (bytesMax: number) => `The file is larger than ${bytesMax} bytes`,
} as const

/** Reasons why the gateway does not use a file with rules. */
export const rulesFileTexts = {
  tooManyFiles: (filesMax: number) =>
    `There are more than ${filesMax} files with rules in this folder and the folders above. Remove some`,
  ignored: (file: string, { path, detail, remedy }: AccessProblem) =>
    `${file} is ignored, because ${path} ${detail}. Fix it with: ${remedy}`,
} as const

/** Reasons why a config file does not count as trusted. Each text follows "because". */
export const distrustReasons = {
  new: 'you have not trusted this file',
  changed: 'it has changed since you trusted it',
  exposed: ({ path, detail, remedy }: AccessProblem) => `${path} ${detail} (fix it with: ${remedy})`,
} as const

export function ignoredText(file: string, keys: readonly string[], reason: string, command: string): string {
  return `Ignoring ${list(keys)} in ${file}, because ${reason}. To see what the file would do and to trust it, run: ${command}`
}

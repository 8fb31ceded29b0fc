/** The sentences about settings of a folder that a person reads. */
import { joinWords } from '../shell-quote.ts'
import type { ProjectSettings } from './project-settings.ts'

const listedFilesMax = 5

/** Reasons why the settings of a folder cannot be trusted. */
export const settingsProblems = {
  tooMany:
    'There are too many files to check, so the settings cannot be trusted. Remove files from the agents’ settings folders',
  notFile: (path: string) => `${path} is neither a file nor a folder, so the settings cannot be trusted. Remove it`,
  unreadable: (path: string, code: string) =>
    `${path} cannot be read (${unreadableReasons[code] ?? code}), so the settings cannot be trusted. Remove or repair it`,
} as const
const unreadableReasons: Readonly<Record<string, string>> = {
  ENOTDIR: 'it must be a folder',
  ELOOP: 'its symbolic links lead in a circle',
  EACCES: 'you have no permission',
}

/** Returns the paths of the first files, and the number of the others. */
export function listedFiles(paths: readonly string[]): string {
  const more = paths.length - listedFilesMax
  return `${paths.slice(0, listedFilesMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** The command with which a person trusts a folder. */
export function trustCommand(folder: string): string {
  return `holdpoint trust ${joinWords([folder])}`
}

/** The reason why an agent is not started in a folder with settings that the person has not trusted. */
export function refusedSettings(title: string, untrusted: readonly ProjectSettings[]): string {
  const paths = [...new Set(untrusted.flatMap(({ files }) => files.map(({ path }) => path)))]
  const problem = untrusted.find(settings => settings.problem !== null)?.problem ?? null
  const advice =
    problem ??
    `To use them, read and trust them on the runner’s machine with: ${trustCommand(untrusted[0]?.folder ?? '')}. Then send the message again`
  return `${title} was not started: this folder has settings that you have not trusted, or that have changed since you trusted them (${listedFiles(paths)}). They can run commands without asking. ${advice}`
}

/** The fields of the New session dialog: builds the `startSession` input from them, and assigns errors to them. */
import { exactText } from '@holdpoint/client'
import { Fault, type Input, type Output, type Session } from '@holdpoint/protocol'
import { errorMessage } from '../../../gateway/error-message.ts'
import { rehearsalPrompt } from '../../texts.ts'

export type Driver = Output<'listDrivers'>['items'][number]
export interface NewSessionFields {
  readonly driver: string
  readonly cwd: string
  readonly mode: string
  readonly model: string
  readonly prompt: string
}
export type Problems = Partial<Record<keyof NewSessionFields | 'all', string>>

/** Returns one entry for each driver, from a runner that is ready if there is one. Leaves out external agents, because they start their own sessions. */
export function offeredDrivers(items: readonly Driver[]): readonly Driver[] {
  const byName = new Map<string, Driver>()
  for (const driver of items)
    if (driver.runner !== null && !byName.get(driver.name)?.ready) byName.set(driver.name, driver)
  return [...byName.values()]
}

const foldersMax = 12

/** Returns the folders of the known sessions, without duplicates. The folder of the session that started last comes first. The browser's list of suggestions shows no escapes, so folders that need one are left out. */
export function recentFolders(sessions: Iterable<Session>, max = foldersMax): readonly string[] {
  const sorted = [...sessions].sort((a, b) => b.startedAt - a.startedAt)
  const folders = sorted.map(session => session.cwd).filter(cwd => cwd !== '' && exactText(cwd) === cwd)
  return [...new Set(folders)].slice(0, max)
}

/** Builds the `startSession` input without empty fields, so that the gateway applies its defaults. A rehearsal without a message would do nothing, so it gets one. */
export function inputOf({ driver, cwd, mode, model, prompt }: NewSessionFields): Input<'startSession'> {
  const given = { cwd: cwd.trim(), mode, model: model.trim(), prompt: prompt.trim() || defaultPrompt(driver) }
  return { driver, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')) }
}

/** Returns the message with which a session of this driver starts if the person writes none. */
export function defaultPrompt(driver: string): string {
  return driver === 'rehearsal' ? rehearsalPrompt : ''
}

export function problemsOf(error: unknown): Problems {
  if (error instanceof Fault && error.code === 'no_runner') return { driver: errorMessage(error) }
  const issues = error instanceof Fault ? (error.detail as { issues?: unknown } | undefined)?.issues : undefined // the type of `issues` is checked below
  const problems: Problems = {}
  for (const issue of Array.isArray(issues) ? issues : []) {
    const { path, message } = issue as { path?: unknown; message?: unknown } // `path` is checked below, and `message` is converted to a string
    if (isField(path)) problems[path] ??= String(message)
  }
  return Object.keys(problems).length > 0 ? problems : { all: errorMessage(error) }
}

function isField(path: unknown): path is keyof NewSessionFields {
  return path === 'driver' || path === 'cwd' || path === 'mode' || path === 'model' || path === 'prompt'
}

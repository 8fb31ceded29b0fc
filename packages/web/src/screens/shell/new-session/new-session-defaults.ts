/** How a session was started last from this browser: the next one begins with the same agent, folder and mode. */
import type { NewSessionFields } from './new-session-form.ts'

export interface NewSessionDefaults {
  readonly driver: string
  readonly cwd: string
  /** By agent: what is a mode of one is none of another. */
  readonly modes: Readonly<Record<string, string>>
}

const nothing: NewSessionDefaults = { driver: '', cwd: '', modes: {} }
/** To ask for nothing is chosen anew each time. */
const neverKept = new Set(['bypassPermissions'])

export function readDefaults(kept: string | null): NewSessionDefaults {
  try {
    const { driver, cwd, modes } = JSON.parse(kept ?? '{}') as Partial<Record<keyof NewSessionDefaults, unknown>> // whatever it is, it is looked at
    const named = Object.entries(Object(modes)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    )
    return {
      driver: typeof driver === 'string' ? driver : '',
      cwd: typeof cwd === 'string' ? cwd : '',
      modes: Object.fromEntries(named),
    }
  } catch {
    return nothing
  }
}

export function writeDefaults(before: NewSessionDefaults, { driver, cwd, mode }: NewSessionFields): string {
  const { [driver]: _last, ...others } = before.modes
  const kept = mode !== '' && !neverKept.has(mode)
  return JSON.stringify({ driver, cwd: cwd.trim(), modes: { ...others, ...(kept && { [driver]: mode }) } })
}

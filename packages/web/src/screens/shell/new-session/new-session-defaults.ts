/** Remembers the agent, folder and mode of the last session started from this browser, as defaults for the next session. */
import type { NewSessionFields } from './new-session-form.ts'

export interface NewSessionDefaults {
  readonly driver: string
  readonly cwd: string
  /** The last mode of each driver, by driver name. */
  readonly modes: Readonly<Record<string, string>>
}

const none: NewSessionDefaults = { driver: '', cwd: '', modes: {} }
/** Modes that skip all approvals. A person must choose such a mode again for every session. */
const neverRemembered = new Set(['bypassPermissions'])

export function readDefaults(stored: string | null): NewSessionDefaults {
  try {
    const { driver, cwd, modes } = JSON.parse(stored ?? '{}') as Partial<Record<keyof NewSessionDefaults, unknown>> // every field is checked below
    const named = Object.entries(Object(modes)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    )
    return {
      driver: typeof driver === 'string' ? driver : '',
      cwd: typeof cwd === 'string' ? cwd : '',
      modes: Object.fromEntries(named),
    }
  } catch {
    return none
  }
}

export function writeDefaults(before: NewSessionDefaults, { driver, cwd, mode }: NewSessionFields): string {
  const { [driver]: _last, ...others } = before.modes
  const remember = mode !== '' && !neverRemembered.has(mode)
  return JSON.stringify({ driver, cwd: cwd.trim(), modes: { ...others, ...(remember && { [driver]: mode }) } })
}

/** Starting a session in `holdpoint tui`: which agent, then what to say to it. */
import type { DriverInfo } from '@holdpoint/protocol'
import { blank, ours, type Row, row, theirs } from '../text/span.ts'
import type { Key } from './key.ts'
import { emptyLine, type Line, pressLine } from './line.ts'
import { emptyPick, type Pick, pressPick } from './pick.ts'
import { choiceRows, keyRows } from './sheet-rows.ts'
import { typedRows } from './typed.ts'

export interface Starter {
  readonly drivers: readonly DriverInfo[]
  readonly pick: Pick
  /** Null until the agent is chosen. */
  readonly line: Line | null
  readonly hint: string | null
}
export type Started =
  | { readonly starter: Starter }
  | { readonly left: true }
  | { readonly start: { readonly driver: string; readonly prompt: string } }

export function openStarter(drivers: readonly DriverInfo[]): Starter {
  const usable = drivers.filter(({ name }) => name !== 'external')
  const first = usable.findIndex(({ ready }) => ready)
  return { drivers: usable, pick: { ...emptyPick, cursor: first }, line: null, hint: null }
}

/** Who can run has become known, or has changed; what was chosen stays chosen. */
export function withDrivers(starter: Starter, drivers: readonly DriverInfo[]): Starter {
  const fresh = openStarter(drivers)
  const chosen = starter.drivers[starter.pick.cursor]?.name
  const at = fresh.drivers.findIndex(({ name }) => name === chosen)
  return { ...starter, drivers: fresh.drivers, pick: at < 0 ? fresh.pick : { ...starter.pick, cursor: at } }
}

export function pressStarter(before: Starter, key: Key): Started {
  const starter: Starter = { ...before, hint: null }
  const driver = starter.drivers[starter.pick.cursor]
  if (key.name === 'escape') return starter.line ? { starter: { ...starter, line: null } } : { left: true }
  if (!starter.line) {
    if (key.name === 'enter')
      return {
        starter: driver?.ready
          ? { ...starter, line: emptyLine }
          : { ...starter, hint: driver?.missing ?? 'Choose an agent first.' },
      }
    const pick = pressPick(starter.pick, key, { count: starter.drivers.length, many: false })
    return { starter: pick ? { ...starter, pick } : starter }
  }
  if (key.name !== 'enter') return { starter: { ...starter, line: pressLine(starter.line, key) ?? starter.line } }
  const prompt = starter.line.text.trim()
  if (!driver || prompt === '') return { starter: { ...starter, hint: 'Say what it shall do, then Enter.' } }
  return { start: { driver: driver.name, prompt } }
}

export function starterRows(
  { drivers, pick, line, hint }: Starter,
  folder: string | undefined,
  columns: number,
): readonly Row[] {
  const choices = drivers.map(({ name, title, ready }) => ({
    title: name,
    about: ready ? title : `not ready · ${title}`,
  }))
  return [
    row(ours('Start a session', 'strong')),
    row(
      ours('in ', 'quiet'),
      folder === undefined ? ours('the folder of the gateway', 'quiet') : theirs(folder, 'quiet'),
    ),
    blank,
    ...choiceRows(choices, pick, false).map(one => one.row),
    blank,
    ...(hint === null ? [] : [row(theirs(hint, 'strong'))]),
    ...(line ? typedRows({ label: 'What shall it do?', line }, columns) : []),
    ...keyRows([line ? ['Enter', 'starts it'] : ['Enter', 'next'], ['Esc', 'goes back']], columns),
  ]
}

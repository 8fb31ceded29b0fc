/** Starting a session in `holdpoint tui`: which agent, then what to say to it. */
import type { DriverInfo } from '@holdpoint/protocol'
import { blankRow, type Row, row, trusted, untrusted } from '../../output/span.ts'
import { choiceRows, keyRows } from '../prompt/layout/prompt-sections.ts'
import { emptySelection, type ListSelection, pressSelection } from '../prompt/list-selection.ts'
import { emptyTextInput, pressTextInput, type TextInput } from '../prompt/text-input.ts'
import { textInputRows } from '../prompt/text-input-view.ts'
import type { Key } from '../terminal/key-parser.ts'

export interface StartDialog {
  readonly drivers: readonly DriverInfo[]
  readonly pick: ListSelection
  /** Null until the agent is chosen. */
  readonly line: TextInput | null
  readonly hint: string | null
}
export type StartDialogStep =
  | { readonly starter: StartDialog }
  | { readonly left: true }
  | { readonly start: { readonly driver: string; readonly prompt: string } }

export function openStartDialog(drivers: readonly DriverInfo[]): StartDialog {
  const usable = drivers.filter(({ name }) => name !== 'external')
  const first = usable.findIndex(({ ready }) => ready)
  return { drivers: usable, pick: { ...emptySelection, cursor: first }, line: null, hint: null }
}

/** Who can run has become known, or has changed; what was chosen stays chosen. */
export function withDrivers(starter: StartDialog, drivers: readonly DriverInfo[]): StartDialog {
  const fresh = openStartDialog(drivers)
  const chosen = starter.drivers[starter.pick.cursor]?.name
  const at = fresh.drivers.findIndex(({ name }) => name === chosen)
  return { ...starter, drivers: fresh.drivers, pick: at < 0 ? fresh.pick : { ...starter.pick, cursor: at } }
}

export function pressStartDialog(before: StartDialog, key: Key): StartDialogStep {
  const starter: StartDialog = { ...before, hint: null }
  const driver = starter.drivers[starter.pick.cursor]
  if (key.name === 'escape') return starter.line ? { starter: { ...starter, line: null } } : { left: true }
  if (!starter.line) {
    if (key.name === 'enter')
      return {
        starter: driver?.ready
          ? { ...starter, line: emptyTextInput }
          : { ...starter, hint: driver?.missing ?? 'Choose an agent first.' },
      }
    const pick = pressSelection(starter.pick, key, { count: starter.drivers.length, many: false })
    return { starter: pick ? { ...starter, pick } : starter }
  }
  if (key.name !== 'enter') return { starter: { ...starter, line: pressTextInput(starter.line, key) ?? starter.line } }
  const prompt = starter.line.text.trim()
  if (!driver || prompt === '') return { starter: { ...starter, hint: 'Say what it shall do, then Enter.' } }
  return { start: { driver: driver.name, prompt } }
}

export function startDialogRows(
  { drivers, pick, line, hint }: StartDialog,
  folder: string | undefined,
  columns: number,
): readonly Row[] {
  const choices = drivers.map(({ name, title, ready }) => ({
    title: name,
    about: ready ? title : `not ready · ${title}`,
  }))
  return [
    row(trusted('Start a session', 'strong')),
    row(
      trusted('in ', 'quiet'),
      folder === undefined ? trusted('the folder of the gateway', 'quiet') : untrusted(folder, 'quiet'),
    ),
    blankRow,
    ...choiceRows(choices, pick, false).map(one => one.row),
    blankRow,
    ...(hint === null ? [] : [row(untrusted(hint, 'strong'))]),
    ...(line ? textInputRows({ label: 'What shall it do?', line }, columns) : []),
    ...keyRows([line ? ['Enter', 'starts it'] : ['Enter', 'next'], ['Esc', 'goes back']], columns),
  ]
}

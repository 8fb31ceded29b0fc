/** The dialog of `holdpoint tui` that starts a session: the person chooses an agent, then types the prompt. */
import type { DriverInfo } from '@holdpoint/protocol'
import { blankRow, type Row, row, trusted, untrusted, untrustedCode } from '../../output/span.ts'
import { backKey, keyRows, listRows } from '../prompt/layout/prompt-sections.ts'
import { emptySelection, handleSelectionKey, type ListSelection } from '../prompt/list-selection.ts'
import { emptyTextInput, handleTextKey, type TextInput } from '../prompt/text-input.ts'
import { textInputRows } from '../prompt/text-input-view.ts'
import type { Key } from '../terminal/key-parser.ts'
import { dashboardTexts as texts } from './texts.ts'

export interface StartDialog {
  readonly drivers: readonly DriverInfo[]
  readonly selection: ListSelection
  /** The prompt for the agent; null until an agent is chosen. */
  readonly line: TextInput | null
  readonly hint: string | null
}
export type StartDialogResult =
  | { readonly dialog: StartDialog }
  | { readonly closed: true }
  | { readonly start: { readonly driver: string; readonly prompt: string } }

/** Leaves out agents that are not installed, because the list would become long; `holdpoint doctor` says how to install them. */
export function openStartDialog(drivers: readonly DriverInfo[]): StartDialog {
  const usable = drivers.filter(({ name, installed }) => name !== 'external' && installed !== false)
  const first = usable.findIndex(({ ready }) => ready)
  return { drivers: usable, selection: { ...emptySelection, cursor: first }, line: null, hint: null }
}

/** Replaces the list of drivers and keeps the same driver selected. */
export function withDrivers(dialog: StartDialog, drivers: readonly DriverInfo[]): StartDialog {
  const fresh = openStartDialog(drivers)
  const selected = dialog.drivers[dialog.selection.cursor]?.name
  const cursor = fresh.drivers.findIndex(({ name }) => name === selected)
  const selection = cursor < 0 ? fresh.selection : { ...dialog.selection, cursor }
  return { ...dialog, drivers: fresh.drivers, selection }
}

export function handleStartDialogKey(before: StartDialog, key: Key): StartDialogResult {
  const dialog: StartDialog = { ...before, hint: null }
  const driver = dialog.drivers[dialog.selection.cursor]
  if (key.name === 'escape') return dialog.line ? { dialog: { ...dialog, line: null } } : { closed: true }
  if (!dialog.line) {
    if (key.name === 'enter' && key.alone)
      return {
        dialog: driver?.ready
          ? { ...dialog, line: emptyTextInput }
          : { ...dialog, hint: driver?.missing ?? texts.chooseAgent },
      }
    const selection = handleSelectionKey(dialog.selection, key, { count: dialog.drivers.length, isMultiple: false })
    return { dialog: selection ? { ...dialog, selection } : dialog }
  }
  if (key.name !== 'enter' || !key.alone)
    return { dialog: { ...dialog, line: handleTextKey(dialog.line, key) ?? dialog.line } }
  const prompt = dialog.line.text.trim()
  if (!driver || prompt === '') return { dialog: { ...dialog, hint: texts.promptMissing } }
  return { start: { driver: driver.name, prompt } }
}

export function startDialogRows(
  { drivers, selection, line, hint }: StartDialog,
  folder: string | undefined,
  columns: number,
): readonly Row[] {
  const options = drivers.map(({ name, title, ready }) => ({
    title: name,
    about: ready ? title : `not ready · ${title}`,
  }))
  return [
    row(trusted(texts.startTitle, 'strong')),
    row(
      trusted('in ', 'quiet'),
      folder === undefined ? trusted(texts.gatewayFolder, 'quiet') : untrustedCode(folder, 'quiet'),
    ),
    blankRow,
    ...listRows(options, selection, false).map(item => item.row),
    blankRow,
    ...(hint === null ? [] : [row(untrusted(hint, 'strong'))]),
    ...(line ? textInputRows({ label: texts.promptLabel, line }, columns) : []),
    ...keyRows([['Enter', line ? 'start' : 'next'], backKey], columns),
  ]
}

/** The frame's dialogs, fetched when one of them is opened. */
import type { ReactNode } from 'react'
import { fetched } from './fetched.tsx'
import { openDialog, useOpenDialog } from './open-dialog.ts'

const nothing = () => null
const Start = fetched(async () => (await import('./start.tsx')).Start, nothing)
const Help = fetched(async () => (await import('./help.tsx')).Help, nothing)
const Palette = fetched(async () => (await import('./palette.tsx')).Palette, nothing)

const close = () => openDialog(null)

export function Dialogs(): ReactNode {
  const open = useOpenDialog()
  return (
    <>
      {open === 'start' && <Start onClose={close} />}
      {open === 'help' && <Help onClose={close} />}
      {open === 'palette' && <Palette onClose={close} />}
    </>
  )
}

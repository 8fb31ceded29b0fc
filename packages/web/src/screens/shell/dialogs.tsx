/** The frame's dialogs, fetched when one of them is opened. */
import type { ReactNode } from 'react'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { openDialog, useOpenDialog } from './open-dialog.ts'

const nothing = () => null
const Start = lazyComponent(
  async () => (await import('./new-session/new-session-dialog.tsx')).NewSessionDialog,
  nothing,
)
const Help = lazyComponent(async () => (await import('./help.tsx')).Help, nothing)
const Palette = lazyComponent(async () => (await import('./command-palette.tsx')).CommandPalette, nothing)

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

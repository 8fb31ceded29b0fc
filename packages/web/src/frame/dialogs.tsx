/** The frame's dialogs, fetched when one of them is opened. */
import { lazy, type ReactNode } from 'react'
import { Loaded } from './loaded.tsx'
import { openDialog, useOpenDialog } from './open-dialog.ts'

const Start = lazy(() => import('./start.tsx').then(it => ({ default: it.Start })))
const Help = lazy(() => import('./help.tsx').then(it => ({ default: it.Help })))
const Palette = lazy(() => import('./palette.tsx').then(it => ({ default: it.Palette })))

const close = () => openDialog(null)

export function Dialogs(): ReactNode {
  const open = useOpenDialog()
  return (
    <Loaded>
      {open === 'start' && <Start onClose={close} />}
      {open === 'help' && <Help onClose={close} />}
      {open === 'palette' && <Palette onClose={close} />}
    </Loaded>
  )
}

/** Keeps the sessions of terminals connected while their agent runs, and ends those whose agent has ended without a hook. */
import { type Call, Fault } from '@holdpoint/protocol'
import type { DataFolder } from '../config/data-folder.ts'
import { allTerminals, isTerminalOpen, type TerminalFolder } from '../hooks/terminal-folder.ts'
import { terminalTexts } from './texts.ts'

/** This is a third of the time after which a silent agent counts as disconnected. */
const intervalMs = 10_000

/** Checks the terminals now and at intervals, until the returned function is called. */
export function keepTerminals(dataFolder: DataFolder, call: Call): () => void {
  const check = () => {
    for (const folder of allTerminals(dataFolder)) void checkTerminal(folder, call)
  }
  check()
  const timer = setInterval(check, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}

async function checkTerminal(folder: TerminalFolder, call: Call): Promise<void> {
  const terminal = folder.read()
  if (!terminal) {
    // Unless the folder was left over, a hook has just created it and is about to write the session.
    if (folder.isLeftOver) folder.remove()
    return
  }
  const { id } = terminal.session
  try {
    if (isTerminalOpen(terminal)) {
      await call('renewSession', { id })
      // Most gateways watch no terminal, and start quicker without the code of hooks.
      const { withdrawAbandoned } = await import('@holdpoint/drivers')
      await withdrawAbandoned({ call, calls: folder.calls })
    } else {
      await call('detachSession', { id, ending: { reason: 'stopped', detail: terminalTexts.closed } })
      folder.remove()
    }
  } catch (error) {
    // The session was ended or deleted by a person. Other errors are those of the store, and the next check tries again.
    if (error instanceof Fault && (error.code === 'session_ended' || error.code === 'not_found')) folder.end(terminal)
  }
}

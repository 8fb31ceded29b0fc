/** Checks the folder of a new session before the session starts. */
import type { Call, RunnerId } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway } from '../../../gateway/gateway-context.ts'
import { useDebounced } from '../../../ui/use-debounced.ts'
import { newSessionTexts } from '../texts.ts'

/** Resolves with the problem of a folder, or null if a session can start there, or if that is not known. */
export async function checkFolder(call: Call, runner: RunnerId | null, typed: string): Promise<string | null> {
  const path = typed.trim()
  if (runner === null || path === '') return null
  // A failure can be ignored, because the runner checks the folder again when the session starts.
  const { state } = await call('checkFolder', { runner, path }).catch(() => ({ state: 'unknown' as const }))
  return state === 'folder' || state === 'unknown' ? null : newSessionTexts.folderProblems[state]
}

/** Returns the problem of the folder shortly after the person has typed it, null if there is none, and undefined until it is checked. */
export function useFolderProblem(runner: RunnerId | null, typed: string): string | null | undefined {
  const { call } = useGateway()
  const path = useDebounced(typed)
  const [checked, setChecked] = useState<{ readonly path: string; readonly problem: string | null } | null>(null)
  useEffect(() => {
    let isStale = false
    checkFolder(call, runner, path).then(
      problem => isStale || setChecked({ path, problem }),
      () => {}, // a fault of the call is ignored above, and nothing else rejects
    )
    return () => {
      isStale = true
    }
  }, [call, runner, path])
  return checked?.path === typed ? checked.problem : undefined
}

/** Decides what the panel of the session screen shows: the pending requests or the overview. On a wide screen the panel is beside the transcript, on a narrow one it is a sheet that can be lowered. */
import { useCallback, useLayoutEffect, useRef, useState } from 'react'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { startCooldown } from '../../ui/input-cooldown.ts'
import { useMediaQuery } from '../../ui/use-media-query.ts'

export type PanelTab = 'requests' | 'overview'
/** What the person chose; null if they chose nothing since the last request arrived. */
type Choice = PanelTab | 'closed' | null

export interface Panel {
  /** True if the panel is a sheet below the transcript, false if it is a column beside it. */
  readonly isSheet: boolean
  /** The content of the panel; null if it is closed. A closed sheet still shows its bar. */
  readonly tab: PanelTab | null
  readonly show: (tab: PanelTab) => void
  readonly close: () => void
  /** Opens the overview, or closes it if it is open. */
  readonly toggleOverview: () => void
}

/** From this width on, transcript and card are side by side. */
const columnsQuery = '(min-width: 1000px)'
/** From this width on, the panel is always open, so that the transcript keeps its width when a request arrives. */
const alwaysOpenQuery = '(min-width: 1240px)'

/** `pending` contains the ids of the session's pending requests. */
export function usePanel(pending: readonly string[]): Panel {
  const isSheet = !useMediaQuery(columnsQuery)
  const isAlwaysOpen = useMediaQuery(alwaysOpenQuery)
  const [chosen, setChosen] = useState<Choice>(null)
  const known = useRef<ReadonlySet<string>>(new Set())
  const hasRequests = pending.length > 0
  const ids = pending.join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: `ids` changes exactly if `pending` does
  useLayoutEffect(() => {
    const hasNew = pending.some(id => !known.current.has(id))
    known.current = new Set(pending)
    if (hasNew) setChosen(before => choiceAfterRequest(before, isSheet))
  }, [ids, isSheet])
  const tab = openTab(chosen, hasRequests, isAlwaysOpen)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other content is under the pointer after every change of the tab
  useLayoutEffect(startCooldown, [tab])
  const close = useCallback(() => setChosen('closed'), [])
  const toggleOverview = useCallback(
    () => setChosen(before => (before !== 'overview' ? 'overview' : hasRequests ? 'requests' : 'closed')),
    [hasRequests],
  )
  useShortcuts({ overview: toggleOverview })
  return { isSheet, tab, show: setChosen, close, toggleOverview }
}

/** A new request opens a closed panel, but neither replaces an overview that a person opened, nor covers the message that they are writing. */
function choiceAfterRequest(chosen: Choice, isSheet: boolean): Choice {
  if (chosen === 'overview') return chosen
  const isWriting = isSheet && document.activeElement?.closest('.composer') != null
  return isWriting ? 'closed' : null
}

function openTab(chosen: Choice, hasRequests: boolean, isAlwaysOpen: boolean): PanelTab | null {
  const fallback = isAlwaysOpen ? 'overview' : null
  if (chosen === 'overview') return chosen
  if (chosen === 'closed') return fallback
  return hasRequests ? 'requests' : fallback
}

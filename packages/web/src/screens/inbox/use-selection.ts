/** The requests that a person has chosen, by key, by box, or as a range. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { showToast } from '../../ui/toast.tsx'
import { batchProblem, partitionSelectable, range, withChoice } from './selection.ts'

export interface Selection {
  /** Those that still wait. */
  readonly chosen: ReadonlySet<RequestId>
  readonly choose: (id: RequestId, selected: boolean) => void
  readonly toggle: (id: RequestId) => void
  readonly extend: (id: RequestId) => void
  readonly clear: () => void
}

/** `seen`: nobody chooses what has not been on the screen. */
export function useSelection(
  shown: readonly RequestId[],
  requests: ReadonlyMap<RequestId, Request>,
  seen: ReadonlySet<RequestId>,
): Selection {
  const [ids, setIds] = useState<ReadonlySet<RequestId>>(new Set())
  const anchor = useRef<RequestId | null>(null)
  const shift = useShiftHeld()
  const chosen = useMemo(() => new Set([...ids].filter(id => requests.get(id)?.status === 'pending')), [ids, requests])
  const latest = useRef({ shown, requests, seen, chosen })
  useEffect(() => {
    latest.current = { shown, requests, seen, chosen }
  })
  const extend = useCallback((id: RequestId) => {
    const now = latest.current
    const all = range(now.shown, anchor.current, id).flatMap(each => now.requests.get(each) ?? [])
    const { fit, why } = partitionSelectable(all, now.seen)
    setIds(before => withChoice(before, fit, true))
    if (why) showToast(why)
  }, [])
  const choose = useCallback(
    (id: RequestId, selected: boolean) => {
      if (shift.current && selected && anchor.current !== null) return extend(id)
      anchor.current = id
      setIds(before => withChoice(before, [id], selected))
    },
    [extend, shift],
  )
  const toggle = useCallback(
    (id: RequestId) => {
      const request = latest.current.requests.get(id)
      const why = request && batchProblem(request)
      if (why) showToast(why)
      else choose(id, !latest.current.chosen.has(id))
    },
    [choose],
  )
  const clear = useCallback(() => setIds(new Set()), [])
  return { chosen, choose, toggle, extend, clear }
}

/** A box that is ticked does not say whether Shift was held; the click before it does. */
function useShiftHeld(): { readonly current: boolean } {
  const shift = useRef(false)
  useEffect(() => {
    const note = (event: MouseEvent | KeyboardEvent) => {
      shift.current = event instanceof MouseEvent && event.shiftKey
    }
    addEventListener('click', note, true)
    addEventListener('keydown', note, true)
    return () => {
      removeEventListener('click', note, true)
      removeEventListener('keydown', note, true)
    }
  }, [])
  return shift
}

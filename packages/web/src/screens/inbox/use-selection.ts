/** Tracks the selected requests. A person selects a request with a key or its checkbox, and a range with Shift. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { showToast } from '../../ui/toast.tsx'
import { batchProblem, partitionSelectable, range, withSelected } from './selection.ts'
import { needReview } from './texts.ts'

export interface Selection {
  /** The selected requests that are still pending. */
  readonly selected: ReadonlySet<RequestId>
  readonly select: (id: RequestId, selected: boolean) => void
  readonly toggle: (id: RequestId) => void
  readonly extend: (id: RequestId) => void
  /** Selects exactly these requests, without those that need individual review. */
  readonly replace: (ids: readonly RequestId[]) => void
  /** The requests that `replace` left out and that are still pending. */
  readonly leftOut: readonly Request[]
  readonly clear: () => void
}

/** `seen` contains the requests that have been on screen. A range never selects other requests. */
export function useSelection(
  shown: readonly RequestId[],
  requests: ReadonlyMap<RequestId, Request>,
  seen: ReadonlySet<RequestId>,
): Selection {
  const [ids, setIds] = useState<ReadonlySet<RequestId>>(new Set())
  const [leftOutIds, setLeftOutIds] = useState<readonly RequestId[]>([])
  const anchor = useRef<RequestId | null>(null)
  const shift = useShiftHeld()
  const selected = useMemo(
    () => new Set([...ids].filter(id => requests.get(id)?.status === 'pending')),
    [ids, requests],
  )
  const latest = useRef({ shown, requests, seen, selected })
  useEffect(() => {
    latest.current = { shown, requests, seen, selected }
  })
  const extend = useCallback((id: RequestId) => {
    const now = latest.current
    const all = range(now.shown, anchor.current, id).flatMap(each => now.requests.get(each) ?? [])
    const { selectable, problem } = partitionSelectable(all, now.seen)
    setIds(before => withSelected(before, selectable, true))
    if (problem) showToast(problem)
  }, [])
  const select = useCallback(
    (id: RequestId, isSelected: boolean) => {
      if (shift.current && isSelected && anchor.current !== null) return extend(id)
      anchor.current = id
      setIds(before => withSelected(before, [id], isSelected))
    },
    [extend, shift],
  )
  const toggle = useCallback(
    (id: RequestId) => {
      const request = latest.current.requests.get(id)
      const problem = request && batchProblem(request)
      if (problem) showToast(problem)
      else select(id, !latest.current.selected.has(id))
    },
    [select],
  )
  const replace = useCallback((all: readonly RequestId[]) => {
    const wanted = all.flatMap(id => latest.current.requests.get(id) ?? []).filter(({ status }) => status === 'pending')
    const [batch, others] = [true, false].map(fits =>
      wanted.filter(request => (batchProblem(request) === null) === fits).map(({ id }) => id),
    )
    setIds(new Set(batch))
    setLeftOutIds(others ?? [])
    if (batch?.length === 0 && wanted.length > 0) showToast(needReview(wanted.length))
  }, [])
  const clear = useCallback(() => setIds(new Set()), [])
  if (selected.size === 0 && leftOutIds.length > 0) setLeftOutIds([])
  const leftOut = useMemo(
    () => leftOutIds.flatMap(id => requests.get(id) ?? []).filter(({ status }) => status === 'pending'),
    [leftOutIds, requests],
  )
  return { selected, select, toggle, extend, replace, leftOut, clear }
}

/** Tracks whether the last input was a click with Shift held, because the change event of a checkbox does not include this information. */
function useShiftHeld(): { readonly current: boolean } {
  const shift = useRef(false)
  useEffect(() => {
    const update = (event: MouseEvent | KeyboardEvent) => {
      shift.current = event instanceof MouseEvent && event.shiftKey
    }
    addEventListener('click', update, true)
    addEventListener('keydown', update, true)
    return () => {
      removeEventListener('click', update, true)
      removeEventListener('keydown', update, true)
    }
  }, [])
  return shift
}

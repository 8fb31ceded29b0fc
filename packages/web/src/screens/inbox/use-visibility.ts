/** Tracks which inbox items have come near the screen (these are rendered in full) and which have been on screen. */
import type { RequestId } from '@holdpoint/protocol'
import { type RefCallback, startTransition, useCallback, useEffect, useRef, useState } from 'react'

/** Rows within this distance of the screen are rendered in full. */
const nearPx = 600

export interface Visibility {
  /** Items that have come near the screen. An item stays in this set until it leaves the list. */
  readonly near: ReadonlySet<RequestId>
  readonly seen: ReadonlySet<RequestId>
  /** Returns whether a part of the item is on screen now. */
  readonly isOnScreen: (id: RequestId) => boolean
  /** The ref callback for each item. Each item must have its request's id in the `data-request` attribute. */
  readonly watch: RefCallback<HTMLElement>
}

export function useVisibility(): Visibility {
  const [near, setNear] = useState<ReadonlySet<RequestId>>(new Set())
  const [seen, setSeen] = useState<ReadonlySet<RequestId>>(new Set())
  const onScreen = useRef(new Set<RequestId>())
  const observers = useRef<readonly IntersectionObserver[] | null>(null)
  const watch = useCallback((element: HTMLElement | null) => {
    if (!element) return
    // `rootMargin` only has an effect if the root is the scrolling element.
    const root = element.closest('.inbox-list')
    observers.current ??= [
      // Use a transition, so that rendering the rows does not block scrolling.
      new IntersectionObserver(entries => startTransition(() => setNear(add(entries))), {
        root,
        rootMargin: `${nearPx}px 0px`,
      }),
      new IntersectionObserver(
        entries => {
          updateOnScreen(onScreen.current, entries)
          setSeen(add(entries))
        },
        { root },
      ),
    ]
    const attached = observers.current
    for (const observer of attached) observer.observe(element)
    return () => {
      for (const observer of attached) observer.unobserve(element)
      const id = idOf(element)
      if (id) onScreen.current.delete(id)
      setNear(without(id))
      setSeen(without(id))
    }
  }, [])
  useEffect(
    () => () => {
      for (const observer of observers.current ?? []) observer.disconnect()
      observers.current = null
    },
    [],
  )
  const isOnScreen = useCallback((id: RequestId) => onScreen.current.has(id), [])
  return { near, seen, isOnScreen, watch }
}

function updateOnScreen(onScreen: Set<RequestId>, entries: readonly IntersectionObserverEntry[]): void {
  for (const { target, isIntersecting } of entries) {
    const id = idOf(target)
    if (id && isIntersecting) onScreen.add(id)
    else if (id) onScreen.delete(id)
  }
}

function add(entries: readonly IntersectionObserverEntry[]) {
  const ids = entries.filter(entry => entry.isIntersecting).map(({ target }) => idOf(target))
  return (before: ReadonlySet<RequestId>): ReadonlySet<RequestId> => {
    const added = ids.filter(id => id !== null && !before.has(id))
    return added.length > 0 ? new Set([...before, ...(added as RequestId[])]) : before // the filter above removes null
  }
}

function without(id: RequestId | null) {
  return (before: ReadonlySet<RequestId>): ReadonlySet<RequestId> =>
    id !== null && before.has(id) ? new Set([...before].filter(each => each !== id)) : before
}

function idOf(element: Element): RequestId | null {
  return ((element as HTMLElement).dataset.request as RequestId | undefined) ?? null // `RequestRow` sets `data-request` to the request's id
}

export function itemOf(list: HTMLElement | null, id: RequestId): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`[data-request="${CSS.escape(id)}"]`) ?? null
}

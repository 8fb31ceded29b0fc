/** Tracks which items of the inbox are near the screen (and rendered in full) and which have been on it. */
import type { RequestId } from '@holdpoint/protocol'
import { type RefCallback, startTransition, useCallback, useEffect, useRef, useState } from 'react'

/** How far beyond the edge of the screen cards are rendered. */
const nearPx = 1200

export interface Visibility {
  /** An item stays in this set while it is in the list, so that its card keeps the text typed into it. */
  readonly near: ReadonlySet<RequestId>
  readonly seen: ReadonlySet<RequestId>
  /** The ref of each item, which has its id as `data-request`. */
  readonly watch: RefCallback<HTMLElement>
}

export function useVisibility(): Visibility {
  const [near, setNear] = useState<ReadonlySet<RequestId>>(new Set())
  const [seen, setSeen] = useState<ReadonlySet<RequestId>>(new Set())
  const observers = useRef<readonly IntersectionObserver[] | null>(null)
  const watch = useCallback((element: HTMLElement | null) => {
    if (!element) return
    // rootMargin only works with the scrolling element as root.
    const root = element.closest('main')
    observers.current ??= [
      // As a transition, so that rendering does not block scrolling.
      new IntersectionObserver(entries => startTransition(() => setNear(add(entries))), {
        root,
        rootMargin: `${nearPx}px 0px`,
      }),
      new IntersectionObserver(entries => setSeen(add(entries)), { root }),
    ]
    const attached = observers.current
    for (const observer of attached) observer.observe(element)
    return () => {
      for (const observer of attached) observer.unobserve(element)
      const id = idOf(element)
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
  return { near, seen, watch }
}

function add(entries: readonly IntersectionObserverEntry[]) {
  const ids = entries.filter(entry => entry.isIntersecting).map(({ target }) => idOf(target))
  return (before: ReadonlySet<RequestId>): ReadonlySet<RequestId> => {
    const added = ids.filter(id => id !== null && !before.has(id))
    return added.length > 0 ? new Set([...before, ...(added as RequestId[])]) : before // null was filtered out
  }
}

function without(id: RequestId | null) {
  return (before: ReadonlySet<RequestId>): ReadonlySet<RequestId> =>
    id !== null && before.has(id) ? new Set([...before].filter(each => each !== id)) : before
}

function idOf(element: Element): RequestId | null {
  return ((element as HTMLElement).dataset.request as RequestId | undefined) ?? null // InboxItem sets it to the request's id
}

export function itemOf(list: HTMLElement | null, id: RequestId): HTMLElement | null {
  const item = [...(list?.children ?? [])].find(child => idOf(child) === id)
  return item instanceof HTMLElement ? item : null
}

/** What of a long list is near the screen, and so worth drawing in full, and what has been on it. */
import type { RequestId } from '@holdpoint/protocol'
import { type RefCallback, startTransition, useCallback, useEffect, useRef, useState } from 'react'

/** So far beyond the edge a card is drawn before it comes. */
const nearPx = 1200

export interface Visibility {
  /** Once near, it stays so while it stands in the list: what has been drawn keeps what was typed into it. */
  readonly near: ReadonlySet<RequestId>
  readonly seen: ReadonlySet<RequestId>
  /** For each item, with its id as `data-request`. */
  readonly watch: RefCallback<HTMLElement>
}

export function useVisibility(): Visibility {
  const [near, setNear] = useState<ReadonlySet<RequestId>>(new Set())
  const [seen, setSeen] = useState<ReadonlySet<RequestId>>(new Set())
  const eyes = useRef<readonly IntersectionObserver[] | null>(null)
  const watch = useCallback((element: HTMLElement | null) => {
    if (!element) return
    // Margins reach only beyond the edge of what really scrolls.
    const root = element.closest('main')
    eyes.current ??= [
      // Drawn between frames: scrolling does not wait for it.
      new IntersectionObserver(entries => startTransition(() => setNear(add(entries))), {
        root,
        rootMargin: `${nearPx}px 0px`,
      }),
      new IntersectionObserver(entries => setSeen(add(entries)), { root }),
    ]
    const watching = eyes.current
    for (const eye of watching) eye.observe(element)
    return () => {
      for (const eye of watching) eye.unobserve(element)
      const id = idOf(element)
      setNear(without(id))
      setSeen(without(id))
    }
  }, [])
  useEffect(
    () => () => {
      for (const eye of eyes.current ?? []) eye.disconnect()
      eyes.current = null
    },
    [],
  )
  return { near, seen, watch }
}

function add(entries: readonly IntersectionObserverEntry[]) {
  const ids = entries.filter(entry => entry.isIntersecting).map(({ target }) => idOf(target))
  return (before: ReadonlySet<RequestId>): ReadonlySet<RequestId> => {
    const fresh = ids.filter(id => id !== null && !before.has(id))
    return fresh.length > 0 ? new Set([...before, ...(fresh as RequestId[])]) : before // null was filtered out
  }
}

function without(id: RequestId | null) {
  return (before: ReadonlySet<RequestId>): ReadonlySet<RequestId> =>
    id !== null && before.has(id) ? new Set([...before].filter(each => each !== id)) : before
}

function idOf(element: Element): RequestId | null {
  return ((element as HTMLElement).dataset.request as RequestId | undefined) ?? null // set by the item from a request's own id
}

export function itemOf(list: HTMLElement | null, id: RequestId): HTMLElement | null {
  const item = [...(list?.children ?? [])].find(child => idOf(child) === id)
  return item instanceof HTMLElement ? item : null
}

/** Files that are dropped on the page: whoever takes them says so here. Nobody's are let go: the browser would open them in place of the page and of all that is typed. */
import { useEffect, useRef, useState } from 'react'

type Take = (files: readonly File[]) => void

let taker: { readonly take: Take; readonly over: (over: boolean) => void } | null = null

/** Listens for the whole page, from its beginning. */
export function preventStrayDrops(): void {
  addEventListener('dragover', event => {
    const { dataTransfer } = event
    if (!dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    dataTransfer.dropEffect = open() ? 'copy' : 'none'
    open()?.over(true)
  })
  addEventListener('dragleave', event => {
    // Not into another element: off the page.
    if (event.relatedTarget === null) taker?.over(false)
  })
  addEventListener('drop', event => {
    taker?.over(false)
    const files = [...(event.dataTransfer?.files ?? [])]
    if (files.length === 0) return
    event.preventDefault()
    open()?.take(files)
  })
}

/** What stands behind a dialog takes nothing. */
function open(): typeof taker {
  return document.querySelector('dialog:modal') ? null : taker
}

/** While its component is drawn, files that are dropped anywhere on the page come to it; true while they are held over the page. */
export function useFileDrop(take: Take | null): boolean {
  const [over, setOver] = useState(false)
  const latest = useRef(take)
  useEffect(() => {
    latest.current = take
  })
  const takes = take !== null
  useEffect(() => {
    if (!takes) return
    const mine = { take: (files: readonly File[]) => latest.current?.(files), over: setOver }
    taker = mine
    return () => {
      if (taker === mine) taker = null
    }
  }, [takes])
  return over && takes
}

/** Files dropped anywhere on the page go to the component that accepts them. Without one they are ignored: the browser would otherwise open the file and replace the page. */
import { useEffect, useRef, useState } from 'react'

type OnFiles = (files: readonly File[]) => void

let target: { readonly onFiles: OnFiles; readonly setDragging: (dragging: boolean) => void } | null = null

/** Installs the listeners for the whole page; call once at start. */
export function preventStrayDrops(): void {
  addEventListener('dragover', event => {
    const { dataTransfer } = event
    if (!dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    dataTransfer.dropEffect = activeTarget() ? 'copy' : 'none'
    activeTarget()?.setDragging(true)
  })
  addEventListener('dragleave', event => {
    // relatedTarget is null when the pointer leaves the page, not just an element.
    if (event.relatedTarget === null) target?.setDragging(false)
  })
  addEventListener('drop', event => {
    target?.setDragging(false)
    const files = [...(event.dataTransfer?.files ?? [])]
    if (files.length === 0) return
    event.preventDefault()
    activeTarget()?.onFiles(files)
  })
}

/** Null while a modal dialog covers the component. */
function activeTarget(): typeof target {
  return document.querySelector('dialog:modal') ? null : target
}

/** Receives files dropped on the page while the component is mounted. Returns true while files are dragged over the page. */
export function useFileDrop(onFiles: OnFiles | null): boolean {
  const [dragging, setDragging] = useState(false)
  const latest = useRef(onFiles)
  useEffect(() => {
    latest.current = onFiles
  })
  const accepts = onFiles !== null
  useEffect(() => {
    if (!accepts) return
    const own = { onFiles: (files: readonly File[]) => latest.current?.(files), setDragging }
    target = own
    return () => {
      if (target === own) target = null
    }
  }, [accepts])
  return dragging && accepts
}

/** Passes files that are dropped anywhere on the page to the component that accepts files. If there is none, the files are ignored. In both cases, the browser must not open the files, because that would replace the page. */
import { useEffect, useRef, useState } from 'react'

type OnFiles = (files: readonly File[]) => void

let target: { readonly onFiles: OnFiles; readonly setDragging: (dragging: boolean) => void } | null = null

/** Installs the listeners for the whole page. Call once at startup. */
export function preventStrayDrops(): void {
  addEventListener('dragover', event => {
    const { dataTransfer } = event
    if (!dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    dataTransfer.dropEffect = activeTarget() ? 'copy' : 'none'
    activeTarget()?.setDragging(true)
  })
  addEventListener('dragleave', event => {
    // `relatedTarget` is null only if the pointer left the page, not if the pointer moved to another element.
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

/** Returns the component that accepts files; null if there is none or a modal dialog is open. */
function activeTarget(): typeof target {
  return document.querySelector('dialog:modal') ? null : target
}

/** Calls `onFiles` with files dropped on the page while the component is mounted. If `onFiles` is null, the component accepts no files. Returns true while files are dragged over the page. */
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

/** Puts a text into the clipboard as it is shown: what could not be seen is not copied unseen. */
import { escapeInvisible } from '@holdpoint/protocol'
import { type ReactNode, useEffect, useState } from 'react'
import './copy-button.css'

const toldMs = 1500

export function CopyButton({ text }: { readonly text: string }): ReactNode {
  const [told, setTold] = useState<'Copied' | 'Not copied' | null>(null)
  useEffect(() => {
    if (!told) return
    const timer = setTimeout(() => setTold(null), toldMs)
    return () => clearTimeout(timer)
  }, [told])
  // Browsers have a clipboard only for pages that came a safe way.
  if (typeof navigator === 'undefined' || !navigator.clipboard) return null
  const copy = () =>
    navigator.clipboard.writeText(escapeInvisible(text, { multiline: true })).then(
      () => setTold('Copied'),
      () => setTold('Not copied'),
    )
  return (
    <button type="button" className="copy" onClick={() => void copy()}>
      <span aria-live="polite">{told ?? 'Copy'}</span>
    </button>
  )
}

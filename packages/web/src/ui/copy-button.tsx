/** Copies a text to the clipboard as displayed: invisible characters are copied in their escaped form. */
import { escapeInvisible } from '@holdpoint/protocol'
import { type ReactNode, useEffect, useState } from 'react'
import './copy-button.css'

const feedbackMs = 1500

export function CopyButton({ text }: { readonly text: string }): ReactNode {
  const [feedback, setFeedback] = useState<'Copied' | 'Not copied' | null>(null)
  useEffect(() => {
    if (!feedback) return
    const timer = setTimeout(() => setFeedback(null), feedbackMs)
    return () => clearTimeout(timer)
  }, [feedback])
  // Browsers offer the clipboard only to pages from a secure origin.
  if (typeof navigator === 'undefined' || !navigator.clipboard) return null
  const copy = () =>
    navigator.clipboard.writeText(escapeInvisible(text, { multiline: true })).then(
      () => setFeedback('Copied'),
      () => setFeedback('Not copied'),
    )
  return (
    <button type="button" className="copy" onClick={() => void copy()}>
      <span aria-live="polite">{feedback ?? 'Copy'}</span>
    </button>
  )
}

/** A button that copies a text as it is displayed, with invisible characters escaped. */
import { escapeInvisible } from '@holdpoint/protocol'
import CheckIcon from 'lucide-react/icons/check'
import CopyIcon from 'lucide-react/icons/copy'
import { type ReactNode, useEffect, useState } from 'react'

const feedbackMs = 1500

export function CopyButton({ text }: { readonly text: string }): ReactNode {
  const [feedback, setFeedback] = useState<'Copied' | 'Couldn’t copy' | null>(null)
  useEffect(() => {
    if (!feedback) return
    const timer = setTimeout(() => setFeedback(null), feedbackMs)
    return () => clearTimeout(timer)
  }, [feedback])
  // Browsers give access to the clipboard only to pages from a secure origin.
  if (typeof navigator === 'undefined' || !navigator.clipboard) return null
  const copy = () =>
    navigator.clipboard.writeText(escapeInvisible(text, { multiline: true })).then(
      () => setFeedback('Copied'),
      () => setFeedback('Couldn’t copy'),
    )
  return (
    <button type="button" className="text-button" onClick={() => void copy()}>
      {feedback === 'Copied' ? <CheckIcon /> : <CopyIcon />} <span aria-live="polite">{feedback ?? 'Copy'}</span>
    </button>
  )
}

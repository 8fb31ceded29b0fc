/** Highlights code that `displayText` returned. The markers of the displayed text keep their own look. */
import { type CodeKind, markersIn } from '@holdpoint/client'
import { type ReactNode, useMemo } from 'react'
import { DisplayMarkerView, DisplayText } from './agent-text.tsx'
import { highlight } from './highlighter.ts'
import { splitAtMarkers } from './token-colors.ts'
import './highlight.css'

/** A text with more differently colored parts stays plain, because drawing them would be slow. */
const partsMax = 4000

export interface HighlightedCodeProps {
  readonly text: string
  readonly lang: string
  readonly kind: CodeKind
}

export function HighlightedCode({ text, lang, kind }: HighlightedCodeProps): ReactNode {
  const marked = useMemo(() => {
    const segments = highlight(text, lang)
    return segments && splitAtMarkers(text, segments, markersIn(text, kind))
  }, [text, lang, kind])
  if (!marked || marked.length > partsMax) return <DisplayText text={text} code={kind} />
  return marked.map(({ text: part, color, marker }, i) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: segments of a text have no other key, and never move
    if (marker) return <DisplayMarkerView key={i} kind={marker} text={part} />
    if (color === null) return part
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: segments of a text have no other key, and never move
      <span key={i} className={`syntax-${color}`}>
        {part}
      </span>
    )
  })
}

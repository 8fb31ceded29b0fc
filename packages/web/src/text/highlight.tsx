/** Highlights code. Shell commands are colored at once. Code in other languages is plain until highlighter.ts is loaded. */
import { markersIn } from '@holdpoint/client'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { DisplayMarkerView, DisplayText } from './agent-text.tsx'
import { highlightShell, isShell } from './shell-highlighter.ts'
import { type ColoredText, splitAtMarkers } from './token-colors.ts'
import './highlight.css'

/** Longer texts stay plain, because highlighting them would be slow. */
const highlightMax = 16_000
const cacheMax = 200

/** Caches recently highlighted texts, because a scrolling list renders the same blocks again and again. */
const cache = new Map<string, readonly ColoredText[] | null>()

async function cachedHighlight(text: string, lang: string): Promise<readonly ColoredText[] | null> {
  const key = `${lang}\n${text}`
  const { highlight } = await import('./highlighter.ts')
  if (!cache.has(key)) cache.set(key, highlight(text, lang))
  for (const oldest of cache.keys()) {
    if (cache.size <= cacheMax) break
    cache.delete(oldest)
  }
  return cache.get(key) ?? null
}

function useHighlight(text: string, lang: string | undefined): readonly ColoredText[] | null {
  const isShort = lang !== undefined && text.length <= highlightMax
  const shell = useMemo(() => (isShort && isShell(lang) ? highlightShell(text) : null), [isShort, lang, text])
  const needsGrammar = isShort && shell === null
  const cached = needsGrammar ? cache.get(`${lang}\n${text}`) : null
  const [result, setResult] = useState<{ text: string; segments: readonly ColoredText[] | null } | null>(null)
  useEffect(() => {
    if (!needsGrammar || cached !== undefined) return
    let stale = false
    const timer = setTimeout(() => {
      cachedHighlight(text, lang).then(
        segments => stale || setResult({ text, segments }),
        () => {}, // If highlighter.ts cannot be loaded, the text stays uncolored.
      )
    }, 0)
    return () => {
      stale = true
      clearTimeout(timer)
    }
  }, [text, lang, needsGrammar, cached])
  return shell ?? cached ?? (result?.text === text ? result.segments : null)
}

/** Highlights text that `displayText` returned. */
export function HighlightedCode({
  text,
  lang,
}: {
  readonly text: string
  readonly lang?: string | undefined
}): ReactNode {
  const segments = useHighlight(text, lang)
  const marked = useMemo(() => segments && splitAtMarkers(text, segments, markersIn(text)), [text, segments])
  if (!marked) return <DisplayText text={text} />
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

/** Colours for code: but for commands they come after the text, which never waits for them, and they change nothing but its colour. */
import { markersIn } from '@holdpoint/client'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { DisplayMarkerView, DisplayText } from './agent-text.tsx'
import { highlightShell, isShell } from './shell-highlighter.ts'
import { type ColoredText, splitAtMarkers } from './token-colors.ts'
import './highlight.css'

/** Longer texts stay plain: grammars take their time. */
const highlightMax = 16_000
const paintedMax = 200

/** What was coloured lately: a list that scrolls shows the same blocks again and again. */
const painted = new Map<string, readonly ColoredText[] | null>()

async function paintOnce(text: string, lang: string): Promise<readonly ColoredText[] | null> {
  const key = `${lang}\n${text}`
  const { highlight } = await import('./highlighter.ts')
  if (!painted.has(key)) painted.set(key, highlight(text, lang))
  for (const oldest of painted.keys()) {
    if (painted.size <= paintedMax) break
    painted.delete(oldest)
  }
  return painted.get(key) ?? null
}

function useHighlight(text: string, lang: string | undefined): readonly ColoredText[] | null {
  const short = lang !== undefined && text.length <= highlightMax
  const shell = useMemo(() => (short && isShell(lang) ? highlightShell(text) : null), [short, lang, text])
  const wanted = short && shell === null
  const known = wanted ? painted.get(`${lang}\n${text}`) : null
  const [result, setResult] = useState<{ text: string; pieces: readonly ColoredText[] | null } | null>(null)
  useEffect(() => {
    if (!wanted || known !== undefined) return
    let stale = false
    const rest = setTimeout(() => {
      paintOnce(text, lang).then(
        pieces => stale || setResult({ text, pieces }),
        () => {}, // without its colours a text is still whole
      )
    }, 0)
    return () => {
      stale = true
      clearTimeout(rest)
    }
  }, [text, lang, wanted, known])
  return shell ?? known ?? (result?.text === text ? result.pieces : null)
}

/** A text that `show` has made. */
export function HighlightedCode({
  text,
  lang,
}: {
  readonly text: string
  readonly lang?: string | undefined
}): ReactNode {
  const pieces = useHighlight(text, lang)
  const signed = useMemo(() => pieces && splitAtMarkers(text, pieces, markersIn(text)), [text, pieces])
  if (!signed) return <DisplayText text={text} />
  return signed.map(({ text: part, tone, sign }, i) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name, and never move
    if (sign) return <DisplayMarkerView key={i} kind={sign} text={part} />
    if (tone === null) return part
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: see above
      <span key={i} className={`syntax-${tone}`}>
        {part}
      </span>
    )
  })
}

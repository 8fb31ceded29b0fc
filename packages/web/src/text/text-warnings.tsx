/** Warnings below an agent's text: invisible characters, right-to-left letters in code, letters that look like others, and host names with unusual letters. */
import { type CodeKind, CodeWarnings as CodeWarningList, proseWarnings, textChunks } from '@holdpoint/client'
import TriangleAlertIcon from 'lucide-react/icons/triangle-alert'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import './text-warnings.css'

/** Longer texts are examined chunk by chunk, so that the page stays responsive. */
const atOnceMax = 16_000
/** How long the page may examine a text before it must handle other events. */
const sliceMs = 10

export function CodeWarnings({ text, kind = 'code' }: { readonly text: string; readonly kind?: CodeKind }): ReactNode {
  return <Warnings sentences={useCodeWarnings(text, kind)} />
}

export function ProseWarnings({ text }: { readonly text: string }): ReactNode {
  return <Warnings sentences={useMemo(() => proseWarnings(text), [text])} />
}

function Warnings({ sentences }: { readonly sentences: readonly string[] }): ReactNode {
  return sentences.map(sentence => (
    <p key={sentence} className="text-warning small">
      <TriangleAlertIcon /> {sentence}
    </p>
  ))
}

function useCodeWarnings(text: string, kind: CodeKind): readonly string[] {
  const isLong = text.length > atOnceMax
  const known = useMemo(
    () => (isLong ? [] : new CodeWarningList(kind, 'drawn').add(text).sentences()),
    [text, kind, isLong],
  )
  const [found, setFound] = useState<{ readonly text: string; readonly sentences: readonly string[] } | null>(null)
  useEffect(() => {
    if (!isLong) return
    const warnings = new CodeWarningList(kind, 'drawn')
    const chunks = textChunks(text)
    let next = 0
    let timer = setTimeout(examine, 0)
    function examine(): void {
      const until = performance.now() + sliceMs
      while (next < chunks.length && performance.now() < until) warnings.add(chunks[next++] ?? '')
      if (next < chunks.length) timer = setTimeout(examine, 0)
      else setFound({ text, sentences: warnings.sentences() })
    }
    return () => clearTimeout(timer)
  }, [text, kind, isLong])
  if (!isLong) return known
  return found?.text === text ? found.sentences : known
}

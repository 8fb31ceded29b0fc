/** Renders an agent's sentences as plain text with their line breaks. Each line has the direction of its first letter, so that people read it as usual. */
import { displayText, textChunks } from '@holdpoint/client'
import { hasRightToLeft } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { DisplayText } from './agent-text.tsx'
import { LazyChunks, textLines } from './lazy-chunks.tsx'
import { ProseWarnings } from './text-warnings.tsx'
import './prose.css'

/** Sentences from an agent, as plain text with their line breaks. */
export function AgentParagraphs({ text }: { readonly text: string }): ReactNode {
  return (
    <>
      <Sentences text={text} />
      <ProseWarnings text={text} />
    </>
  )
}

/** Like `AgentParagraphs`, but without the warning about invisible characters, for backgrounds that must contain only the agent's text. */
export function Sentences({ text }: { readonly text: string }): ReactNode {
  // Sentences are not executed, so CRLF needs no visible marker.
  const chunks = useMemo(() => textChunks(text.replaceAll('\r\n', '\n')), [text])
  return (
    <div className="agent-paragraphs">
      <LazyChunks chunks={chunks} linesOf={textLines} textOf={displayProse}>
        {chunk => <ProseLines text={chunk} />}
      </LazyChunks>
    </div>
  )
}

/** Sentences from an agent on their own background. */
export function Quote({ text, className = '' }: { readonly text: string; readonly className?: string }): ReactNode {
  return (
    <div className="quotation">
      <blockquote className={`quote agent-background ${className}`}>
        <Sentences text={text} />
      </blockquote>
      <ProseWarnings text={text} />
    </div>
  )
}

function displayProse(text: string): string {
  return displayText(text, { multiline: true, keepEmoji: true })
}

function ProseLines({ text }: { readonly text: string }): ReactNode {
  const displayed = displayProse(text)
  if (!hasRightToLeft(displayed)) return <ProseText text={displayed} />
  return displayed.split('\n').map((line, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key, and never move
    <span key={i} dir="auto" className="prose-line">
      <ProseText text={line === '' ? '\n' : line} />
    </span>
  ))
}

/** Renders displayed prose inside an element with `dir="auto"`. */
export function ProseText({ text }: { readonly text: string }): ReactNode {
  return hasRightToLeft(text) ? <DisplayText text={text} renderPart={withoutMirroring} /> : <DisplayText text={text} />
}

/** Characters that are mirrored in right-to-left text, such as brackets and < >. */
const mirrored = /(\p{Bidi_M}+)/u

/** Gives mirrored characters the direction of their line, not that of the letters beside them. In an English sentence, a > between two Hebrew words stays a >, and the words stay on their sides of it. */
function withoutMirroring(part: string): ReactNode {
  return part.split(mirrored).map((piece, i) =>
    i % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: segments of a text have no other key, and never move
      <span key={i} className="line-direction">
        {piece}
      </span>
    ),
  )
}

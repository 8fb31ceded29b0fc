/** How agents' text gets onto the page: made visible, as text, on a ground of its own (G9). Nothing else may draw it. */
import { type DisplayMarker, displayText, hasEscapes, markersIn } from '@holdpoint/client'
import type { ReactNode } from 'react'
import { type LineSegment, lineSegments } from './line-segments.ts'
import { splitAtMarkers } from './token-colors.ts'
import './agent-text.css'

const layout = { multiline: true } as const
/** In sentences pictures are pictures; in what is executed every character counts. */
const sentences = { multiline: true, pictures: true } as const

/** A text that `show` has made, or a stretch of one. */
export function DisplayText({ text }: { readonly text: string }): ReactNode {
  const signs = markersIn(text)
  if (signs.length === 0) return text
  return splitAtMarkers(text, [{ text, tone: null }], signs).map(({ text: part, sign }, i) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name, and never move
    sign ? <DisplayMarkerView key={i} kind={sign} text={part} /> : part,
  )
}

/** Ours, and to be seen as that: it reads from left to right, whatever stands around it. */
export function DisplayMarkerView({
  kind,
  text,
}: {
  readonly kind: DisplayMarker['kind']
  readonly text: string
}): ReactNode {
  return (
    <bdi dir="ltr" className={`marker ${kind}`}>
      {text}
    </bdi>
  )
}

/** A few words of an agent inside a line of ours. */
export function InlineAgentText({
  text,
  className = '',
}: {
  readonly text: string
  readonly className?: string
}): ReactNode {
  return (
    <bdi className={`agent-inline ${className}`}>
      <DisplayText text={displayText(text)} />
    </bdi>
  )
}

/** Sentences of an agent, with their line breaks, nothing in them interpreted. */
export function AgentParagraphs({ text }: { readonly text: string }): ReactNode {
  return (
    <>
      <Sentences text={text} />
      <InvisibleWarning text={text} sentence />
    </>
  )
}

/** The same without a word of ours, for a ground on which none may stand: the warning goes below it. */
export function Sentences({ text }: { readonly text: string }): ReactNode {
  // Line ends of another system are line ends; nothing here is executed.
  return (
    <div className="agent-paragraphs">
      <DisplayText text={displayText(text.replaceAll('\r\n', '\n'), sentences)} />
    </div>
  )
}

/** Sentences of an agent on a ground of their own. */
export function Quote({ text, className = '' }: { readonly text: string; readonly className?: string }): ReactNode {
  return (
    <div className="quotation">
      <blockquote className={`quote agent-background ${className}`}>
        <Sentences text={text} />
      </blockquote>
      <InvisibleWarning text={text} sentence />
    </div>
  )
}

export interface LineProps {
  /** Shown already, so that `mark` can name places in it. */
  readonly shown: string
  /** Where it was changed. */
  readonly mark?: readonly [number, number]
}

/** One line of a file, with its tabs and the blanks at its end to be seen. */
export function Line({ shown, mark }: LineProps): ReactNode {
  return lineSegments(shown, mark).map((piece, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line that never changes
    return <LinePiece key={index} {...piece} />
  })
}

function LinePiece({ text, kind, marked }: LineSegment): ReactNode {
  const drawn = drawPiece(kind, text)
  return marked ? <mark>{drawn}</mark> : drawn
}

function drawPiece(kind: LineSegment['kind'], text: string): ReactNode {
  switch (kind) {
    case 'text':
      return text
    case 'tab':
    case 'trail':
    case 'trail tab':
      return <span className={kind}>{text}</span>
    default:
      return <DisplayMarkerView kind={kind} text={text} />
  }
}

/** Says that a text holds what cannot be seen, and how it stands there now. */
export function InvisibleWarning({
  text,
  sentence,
}: {
  readonly text: string
  readonly sentence?: boolean
}): ReactNode {
  if (!hasEscapes(text, sentence ? sentences : layout)) return null
  return <p className="hidden-warning small">⚠ Characters that cannot be seen are spelt out as \u{'{…}'}.</p>
}

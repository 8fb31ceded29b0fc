/** Renders agents' text: as plain text, with invisible characters made visible, on its own background (G9). Nothing else may render it. */
import { type DisplayMarker, displayText, hasEscapes, markersIn } from '@holdpoint/client'
import type { ReactNode } from 'react'
import { type LineSegment, lineSegments } from './line-segments.ts'
import { invisibleCharacters } from './texts.ts'
import { splitAtMarkers } from './token-colors.ts'
import './agent-text.css'

const multiline = { multiline: true } as const
/** Sentences may contain emoji; in text that is executed, every character is shown. */
const withEmoji = { multiline: true, pictures: true } as const

/** Renders text returned by `displayText`, or a part of it, and highlights the markers in it. */
export function DisplayText({ text }: { readonly text: string }): ReactNode {
  const markers = markersIn(text)
  if (markers.length === 0) return text
  return splitAtMarkers(text, [{ text, color: null }], markers).map(({ text: part, marker }, i) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: segments of a text have no other key, and never move
    marker ? <DisplayMarkerView key={i} kind={marker} text={part} /> : part,
  )
}

/** A marker we inserted. Isolated LTR so surrounding RTL text cannot reorder it. */
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

/** A few words of an agent inside our own text. */
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

/** Sentences of an agent, with their line breaks. Nothing in them is interpreted. */
export function AgentParagraphs({ text }: { readonly text: string }): ReactNode {
  return (
    <>
      <Sentences text={text} />
      <InvisibleWarning text={text} sentence />
    </>
  )
}

/** Like `AgentParagraphs` without our warning, for backgrounds that must contain only the agent's text. */
export function Sentences({ text }: { readonly text: string }): ReactNode {
  // CRLF is an ordinary line ending here: nothing of this is executed.
  return (
    <div className="agent-paragraphs">
      <DisplayText text={displayText(text.replaceAll('\r\n', '\n'), withEmoji)} />
    </div>
  )
}

/** Sentences of an agent on their own background. */
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

export interface FileLineProps {
  /** Text returned by `displayText`, so that `mark` can refer to offsets in it. */
  readonly displayed: string
  /** Offsets of the changed part. */
  readonly mark?: readonly [number, number]
}

/** One line of a file, with visible tabs and trailing blanks. */
export function FileLine({ displayed, mark }: FileLineProps): ReactNode {
  return lineSegments(displayed, mark).map((segment, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: the segments of a line never change
    return <LineSegmentView key={index} {...segment} />
  })
}

function LineSegmentView({ text, kind, marked }: LineSegment): ReactNode {
  const content = segmentContent(kind, text)
  return marked ? <mark>{content}</mark> : content
}

function segmentContent(kind: LineSegment['kind'], text: string): ReactNode {
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

/** Warns if the text contains invisible characters. */
export function InvisibleWarning({
  text,
  sentence,
}: {
  readonly text: string
  readonly sentence?: boolean
}): ReactNode {
  if (!hasEscapes(text, sentence ? withEmoji : multiline)) return null
  return <p className="hidden-warning small">{invisibleCharacters}</p>
}

/** Renders an agent's text as plain text, with invisible characters made visible (G9). Use these components instead of rendering an agent's string directly. */
import { type DisplayMarker, displayText, hasEscapes, markersIn } from '@holdpoint/client'
import type { EscapeOptions } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { type LineSegment, lineSegments } from './line-segments.ts'
import { invisibleCharacters } from './texts.ts'
import { splitAtMarkers } from './token-colors.ts'
import './agent-text.css'

const multiline: EscapeOptions = { multiline: true }
/** Options for sentences, which may contain emoji. In text that is executed, the invisible characters inside emoji are shown too. */
const withEmoji: EscapeOptions = { multiline: true, keepEmoji: true }

/** Renders text that `displayText` returned, or a part of such text, and highlights the markers. */
export function DisplayText({ text }: { readonly text: string }): ReactNode {
  const markers = markersIn(text)
  if (markers.length === 0) return text
  return splitAtMarkers(text, [{ text, color: null }], markers).map(({ text: part, marker }, i) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: segments of a text have no other key, and never move
    marker ? <DisplayMarkerView key={i} kind={marker} text={part} /> : part,
  )
}

/** A marker that Holdpoint inserted. The marker is isolated and left-to-right, so that surrounding right-to-left text cannot reorder it. */
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

/** A few words from an agent inside Holdpoint's own text. */
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

/** Sentences from an agent, as plain text with their line breaks. */
export function AgentParagraphs({ text }: { readonly text: string }): ReactNode {
  return (
    <>
      <Sentences text={text} />
      <InvisibleWarning text={text} sentence />
    </>
  )
}

/** Like `AgentParagraphs`, but without the warning about invisible characters, for backgrounds that must contain only the agent's text. */
export function Sentences({ text }: { readonly text: string }): ReactNode {
  // Sentences are not executed, so CRLF needs no visible marker.
  return (
    <div className="agent-paragraphs">
      <DisplayText text={displayText(text.replaceAll('\r\n', '\n'), withEmoji)} />
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
      <InvisibleWarning text={text} sentence />
    </div>
  )
}

export interface FileLineProps {
  /** Text that `displayText` returned. The offsets in `mark` refer to this text. */
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

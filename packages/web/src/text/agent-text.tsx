/**
 * Renders an agent's text as plain text, with invisible characters made visible and in an order that the text itself cannot change (G9).
 * Use these components instead of rendering an agent's string directly: `ExactText` for text that is executed or compared,
 * `InlineAgentText` for titles and labels, and the components of prose.tsx for sentences.
 */
import {
  type AskSummary,
  type CodeKind,
  type CutText,
  type DisplayMarker,
  displayText,
  markersIn,
  omissionMarker,
  singleLineCut,
  splitTail,
} from '@holdpoint/client'
import { hasRightToLeft, limits, readsRightToLeft, splitRightToLeft } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { splitAtMarkers } from './token-colors.ts'
import './agent-text.css'

/** Renders a part of a text between two markers. */
type RenderPart = (part: string) => ReactNode

interface DisplayTextProps {
  /** Text that `displayText` returned, or a part of such text. */
  readonly text: string
  /** The kind of code, if the text is code. Look-alike letters in code are highlighted. */
  readonly code?: CodeKind
  readonly renderPart?: RenderPart
}

/** Highlights the markers of a displayed text. */
export function DisplayText({ text, code, renderPart = part => part }: DisplayTextProps): ReactNode {
  const markers = markersIn(text, code)
  if (markers.length === 0) return renderPart(text)
  return splitAtMarkers(text, [{ text, color: null }], markers).map(({ text: part, marker }, i) =>
    marker ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: segments of a text have no other key, and never move
      <DisplayMarkerView key={i} kind={marker} text={part} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: segments of a text have no other key, and never move
      <DisplayPart key={i} text={part} render={renderPart} />
    ),
  )
}

function DisplayPart({ text, render }: { readonly text: string; readonly render: RenderPart }): ReactNode {
  return render(text)
}

/** A marker that Holdpoint inserted, or a look-alike letter. It is isolated and left-to-right, so that surrounding right-to-left text cannot reorder it. */
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

export interface InlineTextProps {
  readonly text: string
  readonly className?: string
  /** Keeps the text on one line. If it does not fit, its middle is left out. */
  readonly oneLine?: boolean
}

export interface InlineAgentTextProps extends InlineTextProps {
  /** How many characters of the end are kept on one line. In a very narrow place, a longer end would itself be cut. */
  readonly endLength?: number
}

/** Text that is executed, compared or typed, such as a path, a name or a value. Every letter is drawn from left to right, in the order in which it is stored. */
export function ExactText({ text, className = '', oneLine = false }: InlineTextProps): ReactNode {
  return (
    <bdi dir="ltr" className={`agent-inline stored-order ${oneLine ? 'one-line' : ''} ${className}`}>
      {oneLine ? <CutLine parts={lineParts(text)} render={exactPart} /> : exactPart(text)}
    </bdi>
  )
}

function exactPart(text: string): ReactNode {
  return <DisplayText text={displayText(text)} code="code" />
}

/** A title or a label, such as an option or the name of a session. The words are drawn in the order in which they are stored, and the letters of each word in the direction of their script. */
export function InlineAgentText(props: InlineAgentTextProps): ReactNode {
  const { text, className = '', oneLine = false, endLength } = props
  return <Label parts={oneLine ? lineParts(text, endLength) : wholeText(text)} {...{ text, className, oneLine }} />
}

interface LabelProps extends Required<InlineTextProps> {
  readonly parts: CutText
}

function Label({ text, parts, className, oneLine }: LabelProps): ReactNode {
  const isRightToLeft = readsRightToLeft(text)
  const order = isRightToLeft ? '' : 'stored-order'
  return (
    <bdi
      dir={isRightToLeft ? 'rtl' : 'ltr'}
      className={`agent-inline ${order} ${oneLine ? 'one-line' : ''} ${className}`}
    >
      {oneLine ? <CutLine parts={parts} render={labelPart} /> : labelPart(parts.head)}
    </bdi>
  )
}

function labelPart(text: string): ReactNode {
  return <DisplayText text={displayText(text, { keepEmoji: true })} renderPart={words} />
}

/** Isolates each right-to-left word, so that its letters read from right to left but words do not change places. */
function words(part: string): ReactNode {
  if (!hasRightToLeft(part)) return part
  return splitRightToLeft(part).map(({ text, isRightToLeft }, i) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: segments of a text have no other key, and never move
    isRightToLeft ? <bdi key={i}>{text}</bdi> : text,
  )
}

/** The command, path or title of a request, on one line. */
export function SummaryText({
  summary,
  className = '',
}: {
  readonly summary: AskSummary
  readonly className?: string
}): ReactNode {
  const { head, omitted, tail, isCode } = summary
  const parts = omitted === 0 ? lineParts(head) : withShortTail(summary)
  if (!isCode) return <Label text={head + tail} {...{ parts, className }} oneLine />
  return (
    <bdi dir="ltr" className={`agent-inline stored-order one-line ${className}`}>
      <CutLine parts={parts} render={exactPart} />
    </bdi>
  )
}

/** Longer lines are cut here. Shorter ones, such as every title, are cut by the browser if they do not fit. */
const lineMax = limits.titleMax
const tailLength = 16
/** The end of a line with a count is shorter, because the start says more, and the count needs space too. */
const countedTailLength = 12
/** Shorter lines have no separate tail, because they nearly always fit. */
const splitFrom = 32

function lineParts(text: string, endLength = tailLength): CutText {
  if (text.length > lineMax) return withShortTail(singleLineCut(text, lineMax))
  return text.length < splitFrom ? wholeText(text) : splitTail(text, endLength)
}

function withShortTail({ head, omitted, tail }: CutText): CutText {
  const { head: rest, tail: end } = splitTail(tail, countedTailLength)
  return { head, omitted: omitted + rest.length, tail: end }
}

function wholeText(text: string): CutText {
  return { head: text, omitted: 0, tail: '' }
}

/** The start and the end of a line. If both do not fit, the browser shortens the start. */
function CutLine({ parts, render }: { readonly parts: CutText; readonly render: RenderPart }): ReactNode {
  const { head, omitted, tail } = parts
  if (tail === '') return <span className="cut-head">{render(head)}</span>
  return (
    <>
      <span className="cut-head">{render(head)}</span>
      {omitted > 0 && <DisplayMarkerView kind="count" text={omissionMarker(omitted)} />}
      <span className="cut-tail">
        <span>{render(tail)}</span>
      </span>
    </>
  )
}

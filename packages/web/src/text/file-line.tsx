/** One line of a file, with visible tabs, trailing blanks, line ends and look-alike letters. */
import { displayRun, textChunks } from '@holdpoint/client'
import { type ReactNode, useMemo } from 'react'
import { DisplayMarkerView } from './agent-text.tsx'
import { LazyChunks, textLines } from './lazy-chunks.tsx'
import { type LineSegment, lineSegments } from './line-segments.ts'
import type { ColoredText } from './token-colors.ts'
import './highlight.css'

export interface FileLineProps {
  /** Text that `displayRun` returned. The offsets in `mark` refer to this text. */
  readonly displayed: string
  /** Offsets of the changed part. */
  readonly mark?: readonly [number, number]
  /** The same text as colored code. */
  readonly colors?: readonly ColoredText[] | undefined
}

export function FileLine({ displayed, mark, colors }: FileLineProps): ReactNode {
  return lineSegments(displayed, mark, colors).map((segment, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: the segments of a line never change
    return <LineSegmentView key={index} {...segment} />
  })
}

/** A line that is too long to be compared or drawn at once. */
export function LongFileLine({ text }: { readonly text: string }): ReactNode {
  const chunks = useMemo(() => textChunks(text), [text])
  return (
    <LazyChunks chunks={chunks} className="stored-order" linesOf={textLines} textOf={displayChunk}>
      {chunk => <FileLine displayed={displayChunk(chunk)} />}
    </LazyChunks>
  )
}

function displayChunk(text: string): string {
  return displayRun({ text, count: 1 })
}

function LineSegmentView({ text, kind, marked, color }: LineSegment): ReactNode {
  const isColored = color !== null && kind === 'text'
  const content = isColored ? <span className={`syntax-${color}`}>{text}</span> : segmentContent(kind, text)
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

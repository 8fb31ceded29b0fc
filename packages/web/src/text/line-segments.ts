/** Splits a line into segments that look different: display markers, tabs, trailing blanks, and the changed part. */
import { type DisplayMarker, markersIn } from '@holdpoint/client'
import type { ColoredText, TokenColor } from './token-colors.ts'

/** A tab, trailing blanks, or a trailing tab. */
type BlankKind = 'tab' | 'trail' | 'trail tab'

export interface LineSegment {
  readonly text: string
  readonly kind: 'text' | BlankKind | DisplayMarker['kind']
  readonly marked: boolean
  /** The color of code; null is the default color. */
  readonly color: TokenColor | null
}

/** Splits a `line` that `displayText` returned. `mark` contains the start and end offsets of the changed part, and `colors` the line as colored code. The joined segments equal the line. */
export function lineSegments(
  line: string,
  mark: readonly [number, number] = [0, 0],
  colors: readonly ColoredText[] = [],
): readonly LineSegment[] {
  const markers = markersIn(line, 'code')
  const markerAt = new Map(markers.map(marker => [marker.from, marker]))
  const [markFrom, markTo] = extendToMarkers(mark, markers)
  const last = markers.at(-1)
  const trailingTo = last?.kind === 'end' ? last.from : line.length
  const trailingFrom = startOfTrailingBlanks(line, trailingTo)
  const cuts = new Set([0, line.length, markFrom, markTo, trailingFrom, trailingTo])
  for (const { from, to } of markers) cuts.add(from).add(to)
  for (let at = line.indexOf('\t'); at !== -1; at = line.indexOf('\t', at + 1)) cuts.add(at).add(at + 1)
  const colorAt = new Map<number, TokenColor | null>()
  let colored = 0
  for (const { text, color } of colors) {
    cuts.add(Math.min(colored, line.length))
    colorAt.set(colored, color)
    colored += text.length
  }
  cuts.add(Math.min(colored, line.length))
  const positions = [...cuts].sort((a, b) => a - b)
  let color: TokenColor | null = null
  return positions.slice(0, -1).map((from, i): LineSegment => {
    color = from >= colored ? null : (colorAt.get(from) ?? (colorAt.has(from) ? null : color))
    const text = line.slice(from, positions[i + 1])
    const isTrailing = from >= trailingFrom && from < trailingTo
    const blank = text === '\t' ? (isTrailing ? 'trail tab' : 'tab') : isTrailing ? 'trail' : 'text'
    return { text, kind: markerAt.get(from)?.kind ?? blank, marked: from >= markFrom && from < markTo, color }
  })
}

function startOfTrailingBlanks(line: string, end: number): number {
  let start = end
  while (start > 0 && (line[start - 1] === ' ' || line[start - 1] === '\t')) start--
  return start
}

/** Extends the marked part so that its ends do not cut a display marker in two. */
function extendToMarkers(
  [from, to]: readonly [number, number],
  markers: readonly DisplayMarker[],
): readonly [number, number] {
  if (from === to) return [from, to]
  const first = markers.find(marker => marker.from < from && from < marker.to)
  const last = markers.find(marker => marker.from < to && to < marker.to)
  return [first?.from ?? from, last?.to ?? to]
}

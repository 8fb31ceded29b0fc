/** The five colors of highlighted code, for all highlighters, and words that keep the default color. */
import type { DisplayMarker } from '@holdpoint/client'

/** A `word` has the default color and is not broken at a hyphen: a line that ends with `--` would hide which option follows. */
export type TokenColor = 'keyword' | 'string' | 'number' | 'name' | 'quiet' | 'word'
/** A stretch of text in one color; null is the default text color. */
export interface ColoredText {
  readonly text: string
  readonly color: TokenColor | null
}
/** A stretch of text that may be a display marker, which is never colored as code. */
export interface MarkedText extends ColoredText {
  readonly marker: DisplayMarker['kind'] | null
}

/** Splits colored segments at the text's display markers, even if a marker spans several segments. */
export function splitAtMarkers(
  text: string,
  segments: readonly ColoredText[],
  markers: readonly DisplayMarker[],
): readonly MarkedText[] {
  const result: MarkedText[] = []
  const add = (from: number, to: number, color: TokenColor | null, marker: DisplayMarker['kind'] | null) =>
    from < to && result.push({ text: text.slice(from, to), color, marker })
  let [start, next] = [0, 0]
  for (const segment of segments) {
    const end = start + segment.text.length
    let from = Math.max(start, markers[next - 1]?.to ?? 0)
    for (let marker = markers[next]; marker && marker.from < end; marker = markers[++next]) {
      add(from, marker.from, segment.color, null)
      add(marker.from, marker.to, null, marker.kind)
      from = marker.to
    }
    add(from, end, segment.color, null)
    start = end
  }
  return result
}

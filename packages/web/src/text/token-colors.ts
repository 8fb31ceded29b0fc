/** The five colours of code, whoever found out what is what. */
import type { DisplayMarker } from '@holdpoint/client'

export type TokenColor = 'keyword' | 'string' | 'number' | 'name' | 'quiet'
/** A stretch of the text in one colour; null: in that of the text. */
export interface ColoredText {
  readonly text: string
  readonly tone: TokenColor | null
}
/** One that may be a sign of ours, which has no colour of the code. */
export interface MarkedText extends ColoredText {
  readonly sign: DisplayMarker['kind'] | null
}

/** The pieces of a text cut around its signs, wherever a grammar has cut it. */
export function splitAtMarkers(
  text: string,
  pieces: readonly ColoredText[],
  signs: readonly DisplayMarker[],
): readonly MarkedText[] {
  const cut: MarkedText[] = []
  const add = (from: number, to: number, tone: TokenColor | null, sign: DisplayMarker['kind'] | null) =>
    from < to && cut.push({ text: text.slice(from, to), tone, sign })
  let [start, next] = [0, 0]
  for (const piece of pieces) {
    const end = start + piece.text.length
    let from = Math.max(start, signs[next - 1]?.to ?? 0)
    for (let sign = signs[next]; sign && sign.from < end; sign = signs[++next]) {
      add(from, sign.from, piece.tone, null)
      add(sign.from, sign.to, null, sign.kind)
      from = sign.to
    }
    add(from, end, piece.tone, null)
    start = end
  }
  return cut
}

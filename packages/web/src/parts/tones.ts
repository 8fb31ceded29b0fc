/** The five colours of code, whoever found out what is what. */
import type { DisplayMarker } from '@holdpoint/client'

export type Tone = 'keyword' | 'string' | 'number' | 'name' | 'quiet'
/** A stretch of the text in one colour; null: in that of the text. */
export interface Piece {
  readonly text: string
  readonly tone: Tone | null
}
/** One that may be a sign of ours, which has no colour of the code. */
export interface SignedPiece extends Piece {
  readonly sign: DisplayMarker['kind'] | null
}

/** The pieces of a text cut around its signs, wherever a grammar has cut it. */
export function splitAtSigns(
  text: string,
  pieces: readonly Piece[],
  signs: readonly DisplayMarker[],
): readonly SignedPiece[] {
  const cut: SignedPiece[] = []
  const add = (from: number, to: number, tone: Tone | null, sign: DisplayMarker['kind'] | null) =>
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

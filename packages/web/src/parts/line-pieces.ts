/** A line cut where it has something to show: tabs, blanks at its end, and the part that was changed. */

export interface Piece {
  readonly text: string
  readonly kind: 'text' | 'tab' | 'trail'
  readonly marked: boolean
}

/** `line` is revealed already; `mark` are offsets in it. Together the pieces are the line. */
export function linePieces(line: string, mark: readonly [number, number] = [0, 0]): readonly Piece[] {
  const trailAt = line.search(/[ \t]+$/)
  const cuts = new Set([0, line.length, mark[0], mark[1], ...(trailAt === -1 ? [] : [trailAt])])
  for (let at = line.indexOf('\t'); at !== -1; at = line.indexOf('\t', at + 1)) cuts.add(at).add(at + 1)
  const places = [...cuts].sort((a, b) => a - b)
  return places.slice(0, -1).map((from, i): Piece => {
    const text = line.slice(from, places[i + 1])
    const kind = text === '\t' ? 'tab' : trailAt !== -1 && from >= trailAt ? 'trail' : 'text'
    return { text, kind, marked: from >= mark[0] && from < mark[1] }
  })
}

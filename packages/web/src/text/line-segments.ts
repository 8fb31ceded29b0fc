/** A line cut where it has something to show: our signs, tabs, blanks at its end, and the part that was changed. */
import { type DisplayMarker, markersIn } from '@holdpoint/client'

/** A tab; what stands at the end of the line. */
type Blank = 'tab' | 'trail' | 'trail tab'

export interface LineSegment {
  readonly text: string
  readonly kind: 'text' | Blank | DisplayMarker['kind']
  readonly marked: boolean
}

/** `line` is shown already; `mark` are offsets in it. Together the pieces are the line. */
export function lineSegments(line: string, mark: readonly [number, number] = [0, 0]): readonly LineSegment[] {
  const signs = markersIn(line)
  const signAt = new Map(signs.map(sign => [sign.from, sign]))
  const [markFrom, markTo] = wholeSigns(mark, signs)
  const last = signs.at(-1)
  const trailTo = last?.kind === 'end' ? last.from : line.length
  const trailFrom = line.slice(0, trailTo).search(/(?<![ \t])[ \t]+$/)
  const cuts = new Set([0, line.length, markFrom, markTo, ...(trailFrom === -1 ? [] : [trailFrom, trailTo])])
  for (const { from, to } of signs) cuts.add(from).add(to)
  for (let at = line.indexOf('\t'); at !== -1; at = line.indexOf('\t', at + 1)) cuts.add(at).add(at + 1)
  const places = [...cuts].sort((a, b) => a - b)
  return places.slice(0, -1).map((from, i): LineSegment => {
    const text = line.slice(from, places[i + 1])
    const trails = trailFrom !== -1 && from >= trailFrom && from < trailTo
    const blank = text === '\t' ? (trails ? 'trail tab' : 'tab') : trails ? 'trail' : 'text'
    return { text, kind: signAt.get(from)?.kind ?? blank, marked: from >= markFrom && from < markTo }
  })
}

/** A sign is marked whole or not at all. */
function wholeSigns([from, to]: readonly [number, number], signs: readonly DisplayMarker[]): readonly [number, number] {
  if (from === to) return [from, to]
  const first = signs.find(sign => sign.from < from && from < sign.to)
  const last = signs.find(sign => sign.from < to && to < sign.to)
  return [first?.from ?? from, last?.to ?? to]
}

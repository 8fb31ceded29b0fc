/** Which lines of a text stay, go and come: the longest common run of lines, between the ends that are equal anyway. */

export type Sign = ' ' | '−' | '+'
export type Row = readonly [sign: Sign, line: string]

/** Beyond this many pairs of lines the middle is simply all of the old, then all of the new: as true, less easy to read. */
const pairsMax = 4_000_000

export function compareLines(before: string, after: string): Row[] {
  const [old, fresh] = [before, after].map(text => (text === '' ? [] : text.split('\n'))) as [string[], string[]] // two in, two out
  const shorter = Math.min(old.length, fresh.length)
  let head = 0
  while (head < shorter && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++
  const same = (lines: string[]) => lines.map((line): Row => [' ', line])
  const [gone, come] = [old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)]
  return [...same(old.slice(0, head)), ...compareMiddle(gone, come), ...same(old.slice(old.length - tail))]
}

function compareMiddle(old: readonly string[], fresh: readonly string[]): Row[] {
  if (old.length * fresh.length > pairsMax)
    return [...old.map((line): Row => ['−', line]), ...fresh.map((line): Row => ['+', line])]
  const width = fresh.length + 1
  // At i, j: how many lines the rests from there have in common.
  const common = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const rows: Row[] = []
  for (let i = 0, j = 0; i < old.length || j < fresh.length; ) {
    const [gone, come] = [old[i], fresh[j]]
    if (gone !== undefined && gone === come) {
      rows.push([' ', gone])
      i++
      j++
    } else if (gone !== undefined && (come === undefined || at(i + 1, j) >= at(i, j + 1))) {
      rows.push(['−', gone])
      i++
    } else {
      rows.push(['+', come ?? ''])
      j++
    }
  }
  return rows
}

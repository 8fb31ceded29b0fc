/** Finds the command that a person probably meant. */

/** Names that people know from other programs. */
const otherNames: Readonly<Record<string, string>> = {
  approve: 'allow',
  accept: 'allow',
  yes: 'allow',
  reject: 'deny',
  refuse: 'deny',
  no: 'deny',
  ls: 'sessions',
  list: 'sessions',
  ps: 'sessions',
  pending: 'inbox',
  requests: 'inbox',
  log: 'logs',
  tail: 'logs',
  history: 'audit',
  tokens: 'token',
  rule: 'rules',
  serve: 'up',
  kill: 'end',
  rm: 'delete',
  remove: 'delete',
  message: 'send',
  version: '--version',
}

/** Returns a command whose name means the same or differs by few letters, or null. */
export function similarCommand(typed: string, names: readonly string[]): string | null {
  const known = otherNames[typed.toLowerCase()]
  if (known) return known
  const ranked = names
    .map(name => ({ name, distance: editDistance(typed.toLowerCase(), name) }))
    .toSorted((a, b) => a.distance - b.distance)
  const [best] = ranked
  return best && best.distance <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : null
}

/** Counts the letters to insert, remove, replace or swap with their neighbor to get from one word to the other. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const at = (up: number, left: number) => (up === 0 ? row : rows[i - up])?.[j - left] ?? 0
      const isSame = from[i - 1] === to[j - 1]
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row.push(
        Math.min(
          at(1, 0) + 1,
          at(0, 1) + 1,
          at(1, 1) + (isSame ? 0 : 1),
          isSwap ? at(2, 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    rows.push(row)
  }
  return rows[from.length]?.[to.length] ?? 0
}

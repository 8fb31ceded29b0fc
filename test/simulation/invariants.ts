/** That the rows are exactly what the log says: folded from nothing, it gives the archive (I4, G2). */
import { isDeepStrictEqual } from 'node:util'
import type { Store } from '@holdpoint/engine'
import type { Fold } from './fold.ts'

/** How far a watcher has come. */
export interface Seen {
  cursor: string | null
  last: number
  busy: boolean
  stop?: () => void
}

/** Members of a row that are the gateway's own and no event tells. */
const own = {
  session: ['ord', 'lease', 'fence', 'turnOpen', 'needsRunner', 'agent', 'person', 'idleAttaches', 'commandSeq'],
  request: ['ord', 'handedFence'],
  command: ['ord'],
  rule: ['ord'],
} as const
type Told = keyof typeof own

export async function checkRows(store: Store, fold: Fold): Promise<void> {
  const folded: Record<Told, ReadonlyMap<string, object>> = {
    session: fold.sessions,
    request: fold.requests,
    command: fold.commands,
    rule: fold.rules,
  }
  for (const table of Object.keys(own) as Told[]) {
    const rows = await store.find(table, {})
    if (rows.length !== folded[table].size)
      throw new Error(`${table}: ${rows.length} rows, ${folded[table].size} by the log (I4)`)
    for (const row of rows) {
      const told = folded[table].get(row.id)
      const shown = Object.fromEntries(
        Object.entries(row).filter(([name]) => !(own[table] as readonly string[]).includes(name)),
      )
      // Secrets stand in the row until they are taken; the log never has them.
      const open = JSON.stringify(shown).replaceAll('"hush"', '"••••••"')
      if (!isDeepStrictEqual(JSON.parse(open), told))
        throw new Error(`${table} ${row.id} is not what the log says (I4)\nrow ${open}\nlog ${JSON.stringify(told)}`)
    }
  }
}

/**
 * The invariants of the simulation, and the check of I4.
 * - I1: a request is resolved at most once.
 * - I2: an agent acts only on a stored allow of exactly that input, and at most once.
 * - I3: a resolution that was acknowledged to a person never changes.
 * - I4: the rows of the store equal the state rebuilt from the event log (G2).
 * - I5: every allow comes from a rule, or from a person who sent it.
 * - I6: the counts of open requests and sessions equal the rows that they count.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Store } from '@holdpoint/engine'
import { type Ask, type Resolution, withEffective } from '@holdpoint/protocol'
import { checkUsage } from '../support/usage-check.ts'
import type { ReplayedLog } from './replayed-log.ts'

/** A subscriber that reconnects, and the position up to which it has read. */
export interface Reader {
  cursor: string | null
  lastSeq: number
  connecting: boolean
  stop?: () => void
}

/** Row fields that only the gateway uses and that no event contains. */
const gatewayFields = {
  session: [
    'ord',
    'lease',
    'fence',
    'turnOpen',
    'needsRunner',
    'agent',
    'openedBy',
    'idleAttaches',
    'commandSeq',
    'account',
    'turnEndedSeq',
    'endedSeq',
  ],
  request: ['ord', 'handedFence', 'sealed', 'resolvedSeq', 'account', 'bytes'],
  command: ['ord'],
  rule: ['ord'],
} as const
type CheckedTable = keyof typeof gatewayFields

export async function checkRows(store: Store, replayed: ReplayedLog): Promise<void> {
  const expectedRows: Record<CheckedTable, ReadonlyMap<string, object>> = {
    session: replayed.sessions,
    request: replayed.requests,
    command: replayed.commands,
    rule: replayed.rules,
  }
  for (const table of Object.keys(gatewayFields) as CheckedTable[]) {
    const rows = await store.find(table, {})
    if (rows.length !== expectedRows[table].size)
      throw new Error(`${table}: the store has ${rows.length} rows, the log gives ${expectedRows[table].size} (I4)`)
    for (const row of rows) {
      const expected = expectedRows[table].get(row.id)
      const visible = Object.fromEntries(
        Object.entries(withLoggedResolution(row)).filter(
          ([name]) => !(gatewayFields[table] as readonly string[]).includes(name),
        ),
      )
      // A row contains the secret until the agent takes the answer; the log never contains it.
      const masked = JSON.stringify(visible).replaceAll('"hush"', '"••••••"')
      if (!isDeepStrictEqual(JSON.parse(masked), expected))
        throw new Error(`${table} ${row.id} differs from the log (I4)\nrow ${masked}\nlog ${JSON.stringify(expected)}`)
    }
  }
  await checkUsage(store)
}

/** The log contains `effective`, which the gateway adds to the resolution of a row. */
function withLoggedResolution(row: object): object {
  if (!('resolution' in row && 'ask' in row) || row.resolution === null) return row
  return { ...row, resolution: withEffective(row.ask as Ask, row.resolution as Resolution) } // only rows of requests have these fields
}

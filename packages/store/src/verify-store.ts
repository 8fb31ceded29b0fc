/** Verifies a whole store: the chain of hashes, the rows against the log, and the head that was noted outside the database. */
import type { Store } from '@holdpoint/engine'
import { limits } from '@holdpoint/protocol'
import { ExpectedRows } from './expected-rows.ts'
import { verifyChain } from './hash-chain.ts'
import { findLoss, HeadNote } from './head-note.ts'

export type StoreReport =
  | { readonly ok: true; readonly events: number; readonly rows: number }
  | {
      readonly ok: false
      /** The first problem, for example “Event 3: its body was changed”. */
      readonly problem: string
      /** A sentence that explains the problem. */
      readonly meaning: string
    }
export interface VerifyOptions {
  /** The file that notes the head of the log. */
  readonly headFile?: string
  /** Called from time to time with the number of checked events and the number of all events. */
  readonly onProgress?: (checked: number, events: number) => void
}

const meanings = {
  log: 'The log in the database was changed or damaged. Compare it with a backup before you rely on the audit log.',
  row: 'A row was changed in the database without an event, so Holdpoint may show people or hand to agents something that was never recorded.',
  missing: 'A row was removed from the database without an event.',
  head: 'The database is not the one that the gateway used last: events are missing, or their hashes were computed again.',
} as const

/** The part of a store that is read to verify it. */
type VerifiedStore = Pick<Store, 'head' | 'events' | 'find' | 'now'>

/** Verifies a store that no gateway changes at the same time. */
export async function verifyStore(
  store: VerifiedStore,
  { headFile, onProgress }: VerifyOptions = {},
): Promise<StoreReport> {
  const { seq: total } = await store.head()
  const expected = new ExpectedRows()
  const chain = await verifyChain(store, event => {
    expected.add(event)
    if (event.seq % progressEvents === 0) onProgress?.(event.seq, total)
  })
  if (!chain.ok) return { ok: false, problem: `Event ${chain.seq}: ${chain.reason}`, meaning: meanings.log }
  const loss = headFile === undefined ? null : await lossSince(store, headFile)
  if (loss) return { ok: false, problem: loss, meaning: meanings.head }
  const rows = await checkRows(store, expected)
  return 'problem' in rows ? { ok: false, ...rows } : { ok: true, events: chain.events, rows: rows.count }
}
const progressEvents = 20_000

async function lossSince(store: VerifiedStore, headFile: string): Promise<string | null> {
  const noted = new HeadNote(headFile).read()
  if (!noted) return null
  const [event] = await store.events({ after: noted.seq - 1, limit: 1 })
  const loss = findLoss(noted, await store.head(), () => event?.hash)
  if (!loss) return null
  return loss.differs
    ? `Event ${loss.lastSeq} is not the event that the gateway noted in ${headFile}`
    : `The log ends at event ${loss.seq}, but the gateway noted event ${loss.lastSeq} of ${new Date(loss.lastAt).toISOString()}`
}

type RowsReport = { readonly count: number } | { readonly problem: string; readonly meaning: string }

async function checkRows(store: VerifiedStore, expected: ExpectedRows): Promise<RowsReport> {
  const now = await store.now()
  let count = 0
  const check = async <T>(
    rows: AsyncIterable<T> | Iterable<T>,
    nameOf: (row: T) => string,
    problemOf: (row: T) => string | null,
  ) => {
    for await (const row of rows) {
      count++
      const problem = problemOf(row)
      if (problem) return `${nameOf(row)} ${problem}`
    }
    return null
  }
  const problem =
    (await check(
      scanByOrd(store, 'session'),
      row => `Session ${row.id}`,
      row => expected.sessionProblem(row),
    )) ??
    (await check(
      scanByOrd(store, 'request'),
      row => `Request ${row.id}`,
      row => expected.requestProblem(row),
    )) ??
    (await check(
      await store.find('rule', {}),
      row => `Rule ${row.id}`,
      row => expected.ruleProblem(row),
    )) ??
    (await check(
      await store.find('token', {}),
      row => `Token ${row.token}`,
      row => expected.tokenProblem(row, now),
    ))
  if (problem) return { problem, meaning: meanings.row }
  const [missing] = expected.missing()
  return missing === undefined
    ? { count }
    : { problem: `${missing} is in the log, but has no row`, meaning: meanings.missing }
}

/** Yields the rows of a table whose rows all have different values of `ord`. */
async function* scanByOrd<K extends 'session' | 'request'>(store: VerifiedStore, table: K) {
  for (let afterOrd = -1; ; ) {
    const rows = await store.find(table, { afterOrd, limit: limits.readAheadMax })
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    afterOrd = last.ord
  }
}

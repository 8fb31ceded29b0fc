/** Commits the recorded rows using only the PostgreSQL client library. Transactions run one after another, and each transaction is sent as one batch. */
import { createRequire } from 'node:module'
import { openPostgres } from '../../packages/store/dist/index.js'
import { msSince } from '../kit/numbers.mjs'
import { changesOf, recordingQueries } from '../kit/recording.mjs'

// Resolve the library from the store package, which depends on it.
const postgres = createRequire(new URL('../../packages/store/package.json', import.meta.url))('postgres')
let sql
let changes
let next = 0

/** Reads the rows of a measured run from one database and creates the same tables in another database. */
export async function open({ recording, url }) {
  const source = postgres(recording, { max: 1, fetch_types: false })
  const rows = {}
  for (const [name, query] of Object.entries(recordingQueries('holdpoint.'))) rows[name] = await source.unsafe(query)
  await source.end()
  changes = changesOf(rows)
  await (await openPostgres({ url })).close()
  sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} })
  return changes.length
}

export async function commits({ url }) {
  const reader = postgres(url, { max: 1, fetch_types: false })
  const [{ commits }] = await reader`SELECT commits FROM holdpoint.head`
  await reader.end()
  return Number(commits)
}

export async function run({ count, perCommit }) {
  const start = process.hrtime.bigint()
  for (let done = 0; done < count; done += perCommit) {
    const size = Math.min(perCommit, count - done)
    await commit(changes.slice(next, next + size))
    next += size
  }
  return msSince(start)
}

const rowsFrom = columns => `json_to_recordset($1::text::json) AS n(${columns})`
const statements = {
  opened: `INSERT INTO holdpoint.request (id, ord, session, status, open, version, fixed, body)
    SELECT id, ord, session, 'pending', 1, 1, fixed, body FROM ${rowsFrom('id text, ord bigint, session text, fixed text, body text')}`,
  resolved: `UPDATE holdpoint.request t SET body = n.body, version = t.version + 1, status = 'resolved' FROM ${rowsFrom('id text, body text')} WHERE t.id = n.id`,
  handed: `UPDATE holdpoint.request t SET body = n.body, version = t.version + 1 FROM ${rowsFrom('id text, body text')} WHERE t.id = n.id`,
  taken: `UPDATE holdpoint.request t SET body = n.body, version = t.version + 1, open = NULL FROM ${rowsFrom('id text, body text')} WHERE t.id = n.id`,
  event: `INSERT INTO holdpoint.event SELECT * FROM ${rowsFrom('seq bigint, epoch text, at bigint, session text, type text, text text, body_hash text, hash text')}`,
  head: 'UPDATE holdpoint.head SET seq = $1, hash = $2, at = $3, commits = commits + 1',
}

async function commit(group) {
  const { event: last } = group.at(-1)
  await sql.begin(tx => {
    const send = (name, rows) =>
      rows.length > 0 && tx.unsafe(statements[name], [JSON.stringify(rows)], { prepare: true })
    return [
      ...['opened', 'resolved', 'handed', 'taken'].map(step =>
        send(
          step,
          group.filter(change => change.step === step).map(change => change.request),
        ),
      ),
      send(
        'event',
        group.map(change => change.event),
      ),
      tx.unsafe(statements.head, [last.seq, last.hash, last.at], { prepare: true }),
    ].filter(Boolean)
  })
}

export const close = () => sql.end()

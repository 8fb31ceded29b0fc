/** Uses the SQLite library directly, with the tables and settings of the store. */
import { createRequire } from 'node:module'
import { openSqlite } from '../../packages/store/dist/index.js'
import { changesOf, recordingQueries } from './recording.mjs'

// Resolve the library from the store package, which depends on it.
const { DatabaseSync } = createRequire(new URL('../../packages/store/package.json', import.meta.url))(
  '@photostructure/sqlite',
)

export function readRecording(file) {
  const db = new DatabaseSync(file, { readOnly: true })
  const queries = recordingQueries('')
  const changes = changesOf({
    events: db.prepare(queries.events).all(),
    requests: db.prepare(queries.requests).all(),
    idems: db.prepare(queries.idems).all(),
  })
  db.close()
  return changes
}

/** Opens a database whose tables the store has created. */
export async function openBare(file) {
  const store = await openSqlite({ file })
  await store.close()
  return new DatabaseSync(file)
}

/** Returns a function that writes the given changes in one durable transaction. */
export async function openBareCommits(file) {
  const db = await openBare(file)
  db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -4096',
  )
  const steps = prepareSteps(db)
  const event = db.prepare('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const idem = db.prepare('INSERT INTO idempotency VALUES (?, ?, ?, 1, NULL, ?)')
  const head = db.prepare('UPDATE head SET seq = ?, hash = ?, at = ?, commits = commits + 1')
  function commit(changes) {
    db.exec('BEGIN IMMEDIATE')
    let last
    for (const change of changes) {
      steps[change.step](change.request)
      const e = change.event
      event.run(e.seq, e.epoch, e.at, e.session, e.type, e.text, e.body_hash, e.hash)
      if (change.idem) idem.run(change.idem.id, change.idem.ord, change.idem.at, change.idem.body)
      last = e
    }
    head.run(last.seq, last.hash, last.at)
    db.exec('COMMIT')
  }
  return { commit, close: () => db.close() }
}

function prepareSteps(db) {
  const insert = db.prepare('INSERT INTO request VALUES (?, ?, ?, ?, 1, NULL, 1, ?, ?)')
  const answer = db.prepare("UPDATE request SET body = ?, version = version + 1, status = 'resolved' WHERE id = ?")
  const hand = db.prepare('UPDATE request SET body = ?, version = version + 1 WHERE id = ?')
  const take = db.prepare('UPDATE request SET body = ?, version = version + 1, open = NULL WHERE id = ?')
  return {
    opened: row => insert.run(row.id, row.ord, row.session, 'pending', row.fixed, row.body),
    resolved: row => answer.run(row.body, row.id),
    handed: row => hand.run(row.body, row.id),
    taken: row => take.run(row.body, row.id),
  }
}

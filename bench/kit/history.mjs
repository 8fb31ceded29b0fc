/** Multiplies the one request of a model archive, with its session and its events, into a history as long as wanted. SQL does the work: a loop would take minutes. */

/** Ids that are scattered as ours are, so that indexes are as deep and as cold as they would be: hexadecimal digits are among the letters of ids. */
const idOf = (prefix, n) => `printf('${prefix}_%08x%012d', (${n} * 2654435761) % 4294967296, ${n})`

export function writeHistory(db, model, { requests, sessions }) {
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA temp_store = MEMORY;
    ATTACH '${model}' AS model; BEGIN`)
  const indexes = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").all()
  for (const { name } of indexes) db.exec(`DROP INDEX "${name}"`)
  const one = db.prepare('SELECT id, session FROM model.request').get()
  const named = (column, n) =>
    `replace(replace(${column}, '${one.id}', ${idOf('req', n)}), '${one.session}', ${idOf('ses', `(${n} % ${sessions})`)})`
  const count = (name, to) =>
    `WITH RECURSIVE ${name}(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM ${name} WHERE n + 1 < ${to})`

  const sessionColumns = columnsOf(db, 'session')
  db.exec(
    `${count('s', sessions)} INSERT INTO session SELECT ${sessionColumns.map(name => ({ id: idOf('ses', 'n'), ord: 'n + 1' })[name] ?? `m."${name}"`).join(', ')} FROM s, model.session m`,
  )
  const requestColumns = columnsOf(db, 'request')
  const own = {
    id: idOf('req', 'n'),
    ord: `${sessions} + n * 4 + 1`,
    session: idOf('ses', `(n % ${sessions})`),
    fixed: named('m.fixed', 'n'),
  }
  db.exec(
    `${count('r', requests)} INSERT INTO request SELECT ${requestColumns.map(name => own[name] ?? `m."${name}"`).join(', ')} FROM r, model.request m`,
  )
  // Four events each: opened, resolved, handed, taken, in the order in which the model has them.
  db.exec(
    `CREATE TEMP TABLE told AS SELECT row_number() OVER (ORDER BY seq) AS place, * FROM model.event WHERE type LIKE 'request.%'`,
  )
  db.exec(
    `${count('s', sessions)} INSERT INTO event SELECT n + 1, epoch, at, ${idOf('ses', 'n')}, type, text, body_hash, hash FROM s, model.event WHERE type = 'session.opened'`,
  )
  db.exec(
    `${count('r', requests)} INSERT INTO event SELECT ${sessions} + n * 4 + place, epoch, at, ${idOf('ses', `(n % ${sessions})`)}, type, ${named('text', 'n')}, body_hash, hash FROM r CROSS JOIN temp.told ORDER BY n, place`,
  )
  for (const { sql } of indexes) db.exec(sql)
  db.exec('UPDATE head SET (seq, hash, at) = (SELECT seq, hash, at FROM event ORDER BY seq DESC LIMIT 1)')
  const { id } = db.prepare(`SELECT ${idOf('ses', '0')} AS id`).get()
  db.exec('COMMIT; DETACH model')
  db.close()
  return id
}

function columnsOf(db, table) {
  return db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(column => column.name)
}

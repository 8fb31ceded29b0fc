/** Copies the one request of a template database, with its session and events, into a history of any length. The copying runs in SQL, because a loop would take minutes. */

/** An SQL expression for ids that are as random as real ids, so that index depth and cache misses are realistic. Hexadecimal digits are valid in ids. */
const idOf = (prefix, n) => `printf('${prefix}_%08x%012d', (${n} * 2654435761) % 4294967296, ${n})`

export function writeHistory(db, template, { requests, sessions }) {
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA temp_store = MEMORY;
    ATTACH '${template}' AS template; BEGIN`)
  const indexes = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").all()
  for (const { name } of indexes) db.exec(`DROP INDEX "${name}"`)
  const one = db.prepare('SELECT id, session FROM template.request').get()
  const withIds = (column, n) =>
    `replace(replace(${column}, '${one.id}', ${idOf('req', n)}), '${one.session}', ${idOf('ses', `(${n} % ${sessions})`)})`
  const count = (name, to) =>
    `WITH RECURSIVE ${name}(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM ${name} WHERE n + 1 < ${to})`

  const sessionColumns = columnsOf(db, 'session')
  db.exec(
    `${count('s', sessions)} INSERT INTO session SELECT ${sessionColumns.map(name => ({ id: idOf('ses', 'n'), ord: 'n + 1' })[name] ?? `m."${name}"`).join(', ')} FROM s, template.session m`,
  )
  db.exec('INSERT INTO token SELECT * FROM template.token')
  const requestColumns = columnsOf(db, 'request')
  const rewritten = {
    id: idOf('req', 'n'),
    ord: `${sessions} + n * 4 + 1`,
    session: idOf('ses', `(n % ${sessions})`),
    fixed: withIds('m.fixed', 'n'),
  }
  db.exec(
    `${count('r', requests)} INSERT INTO request SELECT ${requestColumns.map(name => rewritten[name] ?? `m."${name}"`).join(', ')} FROM r, template.request m`,
  )
  // Each request has four events in the order of the template: `opened`, `resolved`, `handed`, `taken`.
  db.exec(
    `CREATE TEMP TABLE request_event AS SELECT row_number() OVER (ORDER BY seq) AS position, * FROM template.event WHERE type LIKE 'request.%'`,
  )
  db.exec(
    `${count('s', sessions)} INSERT INTO event SELECT n + 1, epoch, at, ${idOf('ses', 'n')}, type, text, body_hash, hash FROM s, template.event WHERE type = 'session.opened'`,
  )
  db.exec(
    `${count('r', requests)} INSERT INTO event SELECT ${sessions} + n * 4 + position, epoch, at, ${idOf('ses', `(n % ${sessions})`)}, type, ${withIds('text', 'n')}, body_hash, hash FROM r CROSS JOIN temp.request_event ORDER BY n, position`,
  )
  for (const { sql } of indexes) db.exec(sql)
  db.exec('UPDATE head SET (seq, hash, at) = (SELECT seq, hash, at FROM event ORDER BY seq DESC LIMIT 1)')
  const { id } = db.prepare(`SELECT ${idOf('ses', '0')} AS id`).get()
  db.exec('COMMIT; DETACH template')
  db.close()
  return id
}

function columnsOf(db, table) {
  return db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(column => column.name)
}

/** The change of rows from schema 3 to 4: rows name people by their ids instead of their names. */
import type { RowRewrite, StoredRow } from './migrations.ts'

/** Schema 3 identified a person by name, so everything under the same name gets the same id. The first token under that name provides the id, because ids must be unique and a token's id already is. */
export function addPersonIds(): readonly RowRewrite[] {
  const personIds = new Map<unknown, string>()
  const personId = (name: unknown, row: StoredRow) => {
    const known = personIds.get(name) ?? `per_${String(row.token ?? row.id).slice(4)}`
    personIds.set(name, known)
    return known
  }
  return [
    { table: 'token', rewrite: row => rewriteToken(row, personId) },
    { table: 'session', rewrite: row => rewriteSession(row, personId) },
    { table: 'draft', rewrite: row => rewriteDraft(row, personId) },
  ]
}

type PersonIdOf = (name: unknown, row: StoredRow) => string

/** The name of the owner's token in schema 3. Anybody could create tokens of this name, so all of them count as revoked until a gateway finds one of them in its data folder. */
const ownerName = 'owner'

/** Deletes links, and cookies, which have no page secret and therefore sign nobody in. Also deletes the tokens of runners, which name no runner; a gateway registers the token in its data folder again when it starts. */
function rewriteToken(row: StoredRow, personId: PersonIdOf): StoredRow | null {
  if (row.kind !== 'bearer' || row.role === 'runner') return null
  const isPerson = row.role === 'person'
  const isOwner = isPerson && row.name === ownerName
  return {
    ...row,
    role: isOwner ? 'owner' : row.role,
    subject: isPerson ? personId(row.name, row) : row.token,
    madeBy: [],
    ...(isOwner ? {} : { creatorUnknown: true }),
    revokedAt: isOwner ? row.madeAt : null,
    dataFolder: null,
  }
}

function rewriteSession({ person: name, ...row }: StoredRow, personId: PersonIdOf): StoredRow {
  return { ...row, openedBy: name === null ? null : { id: personId(name, row), name } }
}

function rewriteDraft(row: StoredRow, personId: PersonIdOf): StoredRow {
  const request = String(row.request)
  const id = personId(row.person, { ...row, id: request })
  return { ...row, id: `${request}/${id}`, personId: id }
}

/** How ids and cursors are written. An id consists of a prefix such as `ses_` and twenty characters of a 32-character alphabet (100 bits). */
import type {
  AttachmentId,
  CommandId,
  Cursor,
  PersonId,
  RequestId,
  RuleId,
  RunnerId,
  SessionId,
  TokenId,
} from './ids.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
export const idLength = 20

export function idPattern(prefix: string): RegExp {
  return new RegExp(`^${prefix}_[${alphabet}]{${idLength}}$`)
}

type Branded = {
  ses: SessionId
  req: RequestId
  cmd: CommandId
  att: AttachmentId
  run: RunnerId
  rul: RuleId
  per: PersonId
  tok: TokenId
}
export type IdPrefix = keyof Branded

/** Returns whether the value is an id with this prefix. */
export function isId<P extends IdPrefix>(prefix: P, value: unknown): value is Branded[P] {
  return typeof value === 'string' && idPattern(prefix).test(value)
}

/** Makes an id from at least twenty bytes. The bytes are random, or a hash if the same input must always get the same id (G4). */
export function formatId<P extends IdPrefix>(prefix: P, bytes: Uint8Array): Branded[P] {
  if (bytes.length < idLength) throw new Error(`an id needs ${idLength} bytes, got ${bytes.length}`)
  let letters = ''
  for (let i = 0; i < idLength; i++) letters += alphabet[(bytes[i] as number) & 31]
  return `${prefix}_${letters}` as Branded[P] // the letters match the pattern of the id
}

export function formatCursor(epoch: string, seq: number): Cursor {
  return `${epoch}-${seq}`
}
export function parseCursor(cursor: Cursor): { epoch: string; seq: number } {
  const dash = cursor.lastIndexOf('-')
  return { epoch: cursor.slice(0, dash), seq: Number(cursor.slice(dash + 1)) }
}

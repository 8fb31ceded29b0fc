/** Ids: a prefix that says what they name, then twenty letters of a 32-letter alphabet (100 bits). */
import { z } from 'zod'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const length = 20

function id<const P extends string>(prefix: P) {
  return z
    .string()
    .regex(
      new RegExp(`^${prefix}_[${alphabet}]{${length}}$`),
      `must look like ${prefix}_ followed by ${length} letters`,
    )
    .brand<P>()
}

export const SessionId = id('ses')
export const RequestId = id('req')
export const CommandId = id('cmd')
export const RunnerId = id('run')
export const RuleId = id('rul')
export const TokenId = id('tok')
export type SessionId = z.infer<typeof SessionId>
export type RequestId = z.infer<typeof RequestId>
export type CommandId = z.infer<typeof CommandId>
export type RunnerId = z.infer<typeof RunnerId>
export type RuleId = z.infer<typeof RuleId>
export type TokenId = z.infer<typeof TokenId>

type Branded = { ses: SessionId; req: RequestId; cmd: CommandId; run: RunnerId; rul: RuleId; tok: TokenId }
export type IdPrefix = keyof Branded

/** Spells an id from at least twenty bytes: random ones, or a hash where the same thing must get the same id (G4). */
export function formatId<P extends IdPrefix>(prefix: P, bytes: Uint8Array): Branded[P] {
  if (bytes.length < length) throw new Error(`an id needs ${length} bytes, got ${bytes.length}`)
  let letters = ''
  for (let i = 0; i < length; i++) letters += alphabet[(bytes[i] as number) & 31]
  return `${prefix}_${letters}` as Branded[P] // the one place where the brand is made: the spelling above is its pattern
}

/** Opaque to clients: the epoch in which the event was written, and its place. A cursor names a row; no such row, a gap. */
export const Cursor = z.string().regex(/^[a-z0-9]{1,16}-\d{1,15}$/, 'is not a cursor of this gateway')
export type Cursor = z.infer<typeof Cursor>

export function formatCursor(epoch: string, seq: number): Cursor {
  return `${epoch}-${seq}`
}
export function parseCursor(cursor: Cursor): { epoch: string; seq: number } {
  const dash = cursor.lastIndexOf('-')
  return { epoch: cursor.slice(0, dash), seq: Number(cursor.slice(dash + 1)) }
}

/** Ids and cursors. An id consists of a prefix such as `ses_` and twenty characters of a 32-character alphabet (100 bits). */
import { z } from 'zod'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const length = 20

function id<const P extends string>(prefix: P, description: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[${alphabet}]{${length}}$`), `must be ${prefix}_ followed by ${length} characters`)
    .brand<P>()
    .describe(description)
}

export const SessionId = id('ses', 'The id of a session.')
export const RequestId = id('req', 'The id of a request.')
export const CommandId = id('cmd', 'The id of a command.')
export const AttachmentId = id('att', 'The id of an attachment.')
export const RunnerId = id('run', 'The id of a runner.')
export const RuleId = id('rul', 'The id of a rule.')
export const PersonId = id('per', 'The id of a person. Two people may have the same name, but never the same id.')
export const TokenId = id('tok', 'The id of a token. The id is not secret.')
export type SessionId = z.infer<typeof SessionId>
export type RequestId = z.infer<typeof RequestId>
export type CommandId = z.infer<typeof CommandId>
export type AttachmentId = z.infer<typeof AttachmentId>
export type RunnerId = z.infer<typeof RunnerId>
export type RuleId = z.infer<typeof RuleId>
export type PersonId = z.infer<typeof PersonId>
export type TokenId = z.infer<typeof TokenId>

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

/** Makes an id from at least twenty bytes. The bytes are random, or a hash if the same input must always get the same id (G4). */
export function formatId<P extends IdPrefix>(prefix: P, bytes: Uint8Array): Branded[P] {
  if (bytes.length < length) throw new Error(`an id needs ${length} bytes, got ${bytes.length}`)
  let letters = ''
  for (let i = 0; i < length; i++) letters += alphabet[(bytes[i] as number) & 31]
  return `${prefix}_${letters}` as Branded[P] // the letters match the pattern of the id
}

/** A position in the log: the epoch of the store and the sequence number of an event. Clients must not interpret cursors. */
export const Cursor = z
  .string()
  .regex(/^[a-z0-9]{1,16}-\d{1,15}$/, 'is not a cursor of this gateway')
  .describe('A position in the log. Treat a cursor as opaque and only pass it back to the gateway.')
export type Cursor = z.infer<typeof Cursor>

export function formatCursor(epoch: string, seq: number): Cursor {
  return `${epoch}-${seq}`
}
export function parseCursor(cursor: Cursor): { epoch: string; seq: number } {
  const dash = cursor.lastIndexOf('-')
  return { epoch: cursor.slice(0, dash), seq: Number(cursor.slice(dash + 1)) }
}

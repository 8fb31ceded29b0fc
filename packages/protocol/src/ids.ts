/** The schemas of ids and cursors. */
import { z } from 'zod'
import { idLength, idPattern } from './id-format.ts'

function id<const P extends string>(prefix: P, description: string) {
  return z
    .string()
    .regex(idPattern(prefix), `must be ${prefix}_ followed by ${idLength} characters`)
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

/** A position in the log: the epoch of the store and the sequence number of an event. Clients must not interpret cursors. */
export const Cursor = z
  .string()
  .regex(/^[a-z0-9]{1,16}-\d{1,15}$/, 'is not a cursor of this gateway')
  .describe('A position in the log. Treat a cursor as opaque and only pass it back to the gateway.')
export type Cursor = z.infer<typeof Cursor>

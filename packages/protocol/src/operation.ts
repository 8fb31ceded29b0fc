/** The shape of an operation, and schemas that several operations share. */
import { z } from 'zod'
import type { FaultCode } from './fault.ts'
import { Cursor } from './ids.ts'
import { limits } from './limits.ts'

export const Role = z.enum(['person', 'runner', 'agent']).describe('Who a credential belongs to.')
export type Role = z.infer<typeof Role>

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below /api/v1. `:name` is a field of the input. */
  readonly path: string
  /** Who may call it; `anyone` needs no credential. */
  readonly roles: readonly (Role | 'anyone')[]
  /** The fields of path, query and body together. An unknown field is an error. */
  readonly input: z.ZodObject
  readonly output: z.ZodType
  /** The HTTP status of success, if it is not 200. */
  readonly status?: number
  /** What the operation does, for the API reference. */
  readonly summary: string
  /** The faults of this operation; those that every operation can have are in `commonFaults`. */
  readonly faults?: readonly FaultCode[]
  /** The body may be as large as attachments need. */
  readonly allowsLargeBody?: boolean
}

/** Faults that every operation can have. */
export const commonFaults = [
  'bad_json',
  'bad_input',
  'unauthenticated',
  'forbidden',
  'wrong_origin',
  'wrong_host',
  'body_too_large',
  'unsupported_type',
  'idempotency_mismatch',
  'too_many',
  'internal',
  'store_unavailable',
  'store_locked',
  'store_read_only',
  'store_full',
  'draining',
] as const satisfies readonly FaultCode[]

export const people = ['person'] as const
export const everyone = ['person', 'runner', 'agent'] as const
/** The faults of an operation that acts for a session's agent. */
export const agentFaults = ['not_found', 'fenced', 'session_ended'] as const

export const waitParam = z.coerce
  .number()
  .int()
  .min(0)
  .max(limits.waitMaxMs)
  .optional()
  .describe('How long to wait for a result, in milliseconds. Without it, the call returns at once.')
export const limitParam = z.coerce
  .number()
  .int()
  .min(1)
  .max(limits.pageMax)
  .optional()
  .describe('The largest number of items. A page can also end earlier because of its size.')
/** Selects a page of the log: the events after a cursor, or the last events before one. The order is always ascending. */
export const logPageParams = {
  after: Cursor.optional().describe('Read the items after this cursor, oldest first.'),
  before: z
    .union([z.literal('end'), Cursor], 'must be a cursor of this gateway, or end')
    .optional()
    .describe('Read the last items before this cursor, or the newest items with "end". Items are still oldest first.'),
  limit: limitParam,
}
export function afterXorBefore<T extends z.ZodObject<typeof logPageParams>>(input: T): T {
  return input.refine(({ after, before }) => after === undefined || before === undefined, {
    path: ['before'],
    message: 'cannot be combined with after',
  })
}
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item).describe('The items of this page.'),
    next: z
      .string()
      .nullable()
      .describe('Pass this as `after` or `before` to read the next page; null on the last page.'),
  })
export const noInput = z.strictObject({})
export const emptyObject = z.object({}).describe('An empty object.')

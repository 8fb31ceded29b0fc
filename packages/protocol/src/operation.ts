/** The `Operation` interface, and the schemas that several operations share. */
import { z } from 'zod'
import type { FaultCode } from './fault.ts'
import { Cursor } from './ids.ts'
import { limits } from './limits.ts'

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below /api/v1. A segment such as `:id` is a field of the input. */
  readonly path: string
  /** All fields of the path, the query and the body together. An unknown field is an error. */
  readonly input: z.ZodObject
  readonly output: z.ZodType
  /** The HTTP status of a successful reply. Default: 200. */
  readonly status?: number
  /** A description of the operation, for the API reference. */
  readonly summary: string
  /** The faults that this operation can return in addition to `commonFaults`. */
  readonly faults?: readonly FaultCode[]
}

/** Faults that every operation can return. */
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

/** The additional faults of operations that act for the agent of a session. */
export const agentFaults = ['not_found', 'fenced', 'session_ended'] as const

export const waitParam = z.coerce
  .number()
  .int()
  .min(0)
  .max(limits.waitMaxMs)
  .optional()
  .describe('How long to wait for a result, in milliseconds. By default, the call returns at once.')
export const limitParam = z.coerce
  .number()
  .int()
  .min(1)
  .max(limits.pageMax)
  .optional()
  .describe('The maximum number of items. A page can contain fewer items because its size is limited as well.')
/** Selects a page of the log: the first events after a cursor, or the last events before a cursor. Events are always in ascending order. */
export const logPageParams = {
  after: Cursor.optional().describe('Read the items after this cursor, oldest first.'),
  before: z
    .union([z.literal('end'), Cursor], 'must be a cursor of this gateway, or end')
    .optional()
    .describe(
      'Read the last items before this cursor, or the newest items with "end". The items are still in order, oldest first.',
    ),
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

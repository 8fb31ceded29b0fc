/** What an operation is, and the parts that many of them share. */
import { z } from 'zod'
import { Cursor } from './ids.ts'
import { limits } from './limits.ts'

/** Who may call: a person, a runner, an agent; `anyone` needs no credential. */
export const Role = z.enum(['person', 'runner', 'agent'])
export type Role = z.infer<typeof Role>

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below /api/v1; `:name` is a member of the input. */
  readonly path: string
  readonly roles: readonly (Role | 'anyone')[]
  /** Path, query and body members, together. Strict: an unknown member is an error. */
  readonly input: z.ZodObject
  readonly output: z.ZodType
  /** Of success, where it is not 200; an operation may answer 200 or 202 instead where the design says so. */
  readonly status?: number
  readonly summary: string
  /** The body may be as large as attachments need. */
  readonly allowsLargeBody?: boolean
}

export const people = ['person'] as const
export const everyone = ['person', 'runner', 'agent'] as const
export const waitParam = z.coerce.number().int().min(0).max(limits.waitMaxMs).optional()
export const limitParam = z.coerce.number().int().min(1).max(limits.pageMax).optional()
/** A page of the log: what follows `after`, or what comes nearest before `before`, where `end` is behind the newest. Ascending either way. */
export const logPageParams = {
  after: Cursor.optional(),
  before: z.union([z.literal('end'), Cursor], 'must be a cursor of this gateway, or end').optional(),
  limit: limitParam,
}
export function afterXorBefore<T extends z.ZodObject<typeof logPageParams>>(input: T): T {
  return input.refine(({ after, before }) => after === undefined || before === undefined, {
    path: ['before'],
    message: 'cannot stand beside after: a page is read on from one place or back from another',
  })
}
export const pageOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), next: z.string().nullable() })
export const emptyObject = z.object({})

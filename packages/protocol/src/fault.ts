/** Faults are the expected errors that clients receive. The message of a fault says what happened, to which id, and what to do next. */
import { z } from 'zod'

/** All fault codes and their HTTP statuses. */
export const faultStatus = {
  bad_json: 400,
  bad_input: 400,
  unauthenticated: 401,
  forbidden: 403,
  wrong_origin: 403,
  not_found: 404,
  wrong_method: 405,
  too_slow: 408,
  already_resolved: 409,
  not_resolved: 409,
  digest_mismatch: 409,
  key_conflict: 409,
  version_conflict: 409,
  fenced: 409,
  lease_held: 409,
  session_ended: 409,
  session_live: 409,
  no_runner: 409,
  gone: 410,
  body_too_large: 413,
  unsupported_type: 415,
  wrong_host: 421,
  answer_mismatch: 422,
  idempotency_mismatch: 422,
  unsupported: 422,
  too_many: 429,
  headers_too_large: 431,
  internal: 500,
  store_damaged: 500,
  store_unavailable: 503,
  store_locked: 503,
  store_read_only: 503,
  store_full: 503,
  store_newer: 503,
  store_older: 503,
  store_lost: 503,
  draining: 503,
} as const

export type FaultCode = keyof typeof faultStatus
export const faultCodes = Object.keys(faultStatus) as readonly FaultCode[] // the keys of this object are exactly the fault codes

export const FaultBody = z
  .object({
    error: z
      .object({
        code: z.enum(faultCodes).describe('The fault code. See the table of faults.'),
        message: z.string().describe('What happened and what to do next, in English.'),
        detail: z.unknown().optional().describe('Additional data about the fault, for example the id of the request.'),
      })
      .describe('The error.'),
  })
  .describe('The body of every error reply.')
export type FaultBody = z.infer<typeof FaultBody>

/** Returns whether the value is the body of an error reply. Works without the schema, which browsers need not download. */
export function isFaultBody(value: unknown): value is FaultBody {
  const error = (value as { error?: Partial<FaultBody['error']> | null } | null | undefined)?.error // every property is checked
  return typeof error?.message === 'string' && faultCodes.includes(error.code as FaultCode) // any value may be compared
}

export class Fault extends Error {
  readonly code: FaultCode
  readonly detail: unknown
  constructor(code: FaultCode, message: string, detail?: unknown) {
    super(message)
    this.name = 'Fault'
    this.code = code
    this.detail = detail
  }
  get status(): number {
    return faultStatus[this.code]
  }
  toJSON(): FaultBody {
    const error = { code: this.code, message: this.message }
    return { error: this.detail === undefined ? error : { ...error, detail: this.detail } }
  }
}

/** Faults after which the same call may succeed later, because the gateway is restarting or its store is temporarily unavailable. */
const transientCodes: ReadonlySet<FaultCode> = new Set([
  'draining',
  'store_unavailable',
  'store_locked',
  'store_read_only',
  'store_full',
  'store_newer',
  'store_older',
  'store_lost',
])

/** Returns whether the same call may succeed later: the error is a transient fault, or the transport got no reply and threw `Unreachable`. */
export function isTransient(error: unknown): boolean {
  if (error instanceof Fault) return transientCodes.has(error.code)
  return error instanceof Error && error.name === 'Unreachable'
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Converts a failed parse into a Fault whose message names the first few invalid fields. `subject` names the parsed value at the start of the message. */
export function faultFromZod(error: z.ZodError, subject: string): Fault {
  const issues = error.issues.slice(0, 5).map(issue => ({ path: issue.path.join('.'), message: issue.message }))
  const problems = issues.map(issue => (issue.path ? `${issue.path}: ${issue.message}` : issue.message)).join('; ')
  return new Fault('bad_input', `${subject} is not valid: ${problems}`, { issues })
}

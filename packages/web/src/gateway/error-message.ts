/** Converts an error to a message for the person. */
import { Unreachable } from '@holdpoint/client'
import { escapeInvisible, Fault } from '@holdpoint/protocol'

export function errorMessage(error: unknown): string {
  if (error instanceof Unreachable) return 'Can’t reach the gateway.'
  if (error instanceof Fault) return escapeInvisible(error.message)
  return error instanceof Error ? escapeInvisible(error.message) : 'Something went wrong.'
}

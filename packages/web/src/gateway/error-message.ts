/** What an error says to a person. */
import { Unreachable } from '@holdpoint/client'
import { escapeInvisible, Fault } from '@holdpoint/protocol'

export function errorMessage(error: unknown): string {
  if (error instanceof Unreachable) return 'The gateway is out of reach.'
  if (error instanceof Fault) return escapeInvisible(error.message)
  return error instanceof Error ? escapeInvisible(error.message) : 'Something went wrong.'
}

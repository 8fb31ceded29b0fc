/** Converts an error to a message for the person. */
import { labelText, Unreachable } from '@holdpoint/client'
import { Fault } from '@holdpoint/protocol'

export function errorMessage(error: unknown): string {
  if (error instanceof Unreachable) return 'Can’t reach the gateway.'
  if (error instanceof Fault) return labelText(error.message)
  return error instanceof Error ? labelText(error.message) : 'Something went wrong.'
}

/** Texts of the browser notifications. */

export const unknownSession = 'An agent'

export function manyRequests(count: number): string {
  return `${count} requests waiting`
}
